"""Parts that several formats use: a jury, a ledger of claims, precedents."""
