"""The broker: routes from requests to handlers, and where requests wait that cannot be answered yet."""
