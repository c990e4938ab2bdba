"""URLs of the account pages."""

from django.urls import path

from accounts.views import login, passwords, security, settings

app_name = "accounts"
urlpatterns = [
    path("login/", login.log_in, name="login"),
    path("login/confirm/", login.confirm, name="confirm"),
    path("login/link/<str:token>/", login.follow_link, name="login_link"),
    path("login/second/", security.take_second_step, name="second_step"),
    path("login/passkey/", security.log_in_with_passkey, name="passkey_login"),
    path("login/passkey/options/", security.passkey_options, name="passkey_options"),
    path("login/confirm/passkey/", security.confirm_with_passkey, name="passkey_confirm"),
    path("logout/", login.log_out, name="logout"),
    path("signup/", login.sign_up, name="signup"),
    path("password/", passwords.ChangePassword.as_view(), name="password_change"),
    path("password/reset/", passwords.reset_password, name="password_reset"),
    path("password/reset/sent/", passwords.reset_sent, name="password_reset_sent"),
    path("password/reset/<uidb64>/<token>/", passwords.ConfirmReset.as_view(), name="password_reset_confirm"),
    path("settings/", settings.member_settings, name="settings"),
    path("settings/reading/", settings.reading, name="reading"),
    path("settings/programs/", settings.programs, name="programs"),
    path("settings/account/", settings.data, name="data"),
    path("settings/security/", security.show, name="security"),
    path("settings/sessions/", security.end_other_sessions, name="end_sessions"),
    path("settings/sessions/<str:session>/end/", security.end_session, name="end_session"),
    path("settings/security/app/", security.set_up_app, name="set_up_app"),
    path("settings/security/app/remove/", security.remove_app, name="remove_app"),
    path("settings/security/second-step/on/", security.turn_on, name="turn_on_second_step"),
    path("settings/security/second-step/off/", security.turn_off, name="turn_off_second_step"),
    path("settings/security/codes/", security.renew_codes, name="renew_codes"),
    path("settings/security/passkeys/", security.add_passkey, name="add_passkey"),
    path("settings/security/passkeys/<int:passkey_id>/", security.rename_passkey, name="rename_passkey"),
    path("settings/security/passkeys/<int:passkey_id>/remove/", security.remove_passkey, name="remove_passkey"),
    path("settings/email/", settings.change_email, name="change_email"),
    path("settings/delete/", settings.delete_account, name="delete"),
    path("settings/mail/", settings.choose, name="choose_mail"),
    path("settings/mail/link/", settings.send_link, name="send_link"),
    path("settings/mail/verify/<str:token>/", settings.verify, name="verify"),
    path("unsubscribe/<str:token>/", settings.unsubscribe, name="unsubscribe"),
    path("settings/invitations/", login.invitations, name="invitations"),
    path("settings/invitations/<int:invitation_id>/revoke/", login.revoke_invitation, name="revoke_invitation"),
    path("settings/tokens/", settings.issue_token, name="token_issue"),
    path("settings/tokens/<int:token_id>/revoke/", settings.revoke_token, name="token_revoke"),
]
