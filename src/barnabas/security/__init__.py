"""Who a client is and what it may do: authentication, authorization and quotas."""
