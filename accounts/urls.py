"""URLs of the account pages."""

from django.urls import path

from accounts.views import factors, login, mail, passwords, providers, security, settings

app_name = "accounts"
urlpatterns = [
    path("login/", login.log_in, name="login"),
    path("login/confirm/", login.confirm, name="confirm"),
    path("login/confirm/with/<slug:provider>/", providers.confirm, name="provider_confirm"),
    path("login/with/<slug:provider>/", providers.log_in, name="provider_login"),
    path("login/with/<slug:provider>/back/", providers.come_back, name="provider_back"),
    path("login/link/<str:token>/", login.follow_link, name="login_link"),
    path("login/second/", factors.take_second_step, name="second_step"),
    path("login/passkey/", factors.log_in_with_passkey, name="passkey_login"),
    path("login/passkey/options/", factors.passkey_options, name="passkey_options"),
    path("login/confirm/passkey/", factors.confirm_with_passkey, name="passkey_confirm"),
    path("logout/", login.log_out, name="logout"),
    path("signup/", login.sign_up, name="signup"),
    path("signup/name/", providers.finish_sign_up, name="finish_signup"),
    path("password/", passwords.ChangePassword.as_view(), name="password_change"),
    path("password/reset/", passwords.reset_password, name="password_reset"),
    path("password/reset/sent/", passwords.reset_sent, name="password_reset_sent"),
    path("password/reset/<uidb64>/<token>/", passwords.ConfirmReset.as_view(), name="password_reset_confirm"),
    path("settings/", settings.member_settings, name="settings"),
    path("settings/security/", security.show, name="security"),
    path("settings/identities/add/<slug:provider>/", providers.link, name="link_identity"),
    path("settings/identities/<int:identity>/remove/", providers.unlink, name="unlink_identity"),
    path("settings/sessions/", security.end_other_sessions, name="end_sessions"),
    path("settings/sessions/<str:session>/end/", security.end_session, name="end_session"),
    path("settings/security/app/", factors.set_up_app, name="set_up_app"),
    path("settings/security/app/remove/", factors.remove_app, name="remove_app"),
    path("settings/security/second-step/on/", factors.turn_on, name="turn_on_second_step"),
    path("settings/security/second-step/off/", factors.turn_off, name="turn_off_second_step"),
    path("settings/security/codes/", factors.renew_codes, name="renew_codes"),
    path("settings/security/passkeys/", factors.add_passkey, name="add_passkey"),
    path("settings/security/passkeys/<int:passkey_id>/", factors.rename_passkey, name="rename_passkey"),
    path("settings/security/passkeys/<int:passkey_id>/remove/", factors.remove_passkey, name="remove_passkey"),
    path("settings/email/", settings.change_email, name="change_email"),
    path("settings/delete/", settings.delete_account, name="delete"),
    path("settings/mail/", mail.choose, name="choose_mail"),
    path("settings/mail/link/", mail.send_link, name="send_link"),
    path("settings/mail/verify/<str:token>/", mail.verify, name="verify"),
    path("unsubscribe/<str:token>/", mail.unsubscribe, name="unsubscribe"),
    path("settings/invitations/", login.invitations, name="invitations"),
    path("settings/tokens/", settings.issue_token, name="token_issue"),
    path("settings/tokens/<int:token_id>/revoke/", settings.revoke_token, name="token_revoke"),
]
