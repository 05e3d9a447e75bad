"""Does a debate help? Paired comparisons at equal cost, and the statistics behind them."""
