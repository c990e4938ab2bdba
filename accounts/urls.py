"""Addresses of the members' pages."""

from django.urls import path

from accounts import deletion, passwords, views

app_name = "accounts"
urlpatterns = [
    path("login/", views.log_in, name="login"),
    path("logout/", views.log_out, name="logout"),
    path("signup/", views.sign_up, name="signup"),
    path("password/", passwords.ChangePassword.as_view(), name="password_change"),
    path("password/reset/", passwords.reset_password, name="password_reset"),
    path("password/reset/sent/", passwords.reset_sent, name="password_reset_sent"),
    path("password/reset/<uidb64>/<token>/", passwords.ConfirmReset.as_view(), name="password_reset_confirm"),
    path("settings/", views.member_settings, name="settings"),
    path("settings/delete/", deletion.delete_account, name="delete"),
    path("settings/tokens/", views.issue_token, name="token_issue"),
    path("settings/tokens/<int:token_id>/revoke/", views.revoke_token, name="token_revoke"),
]
