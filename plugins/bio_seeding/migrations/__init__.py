"""The tables of the bio_seeding plugin."""
