"""The only code that knows threads. Every job ends as exactly one of done, failed, cancelled."""
