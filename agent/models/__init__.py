"""Chat models and embedding models: one small surface over the providers, which are imported only when used."""
