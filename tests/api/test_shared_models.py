"""Operations with the same response share its model, or each start makes hundreds of them."""

from collections import Counter

from articles.api.protocol.site_api import api


def test_operations_with_the_same_response_share_its_model():
    operations = [
        operation
        for _prefix, router in api._routers
        for view in router.path_operations.values()
        for operation in view.operations
    ]
    models = {
        id(model): model.__annotations__["response"]
        for operation in operations
        for model in operation.response_models.values()
        if model is not None
    }

    assert len(operations) > 100
    assert max(Counter(map(repr, models.values())).values()) == 1
