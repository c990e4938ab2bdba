app_name = "articles"
urlpatterns = []
