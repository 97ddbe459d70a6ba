"""The core of Isthmus: it knows no platform and no plugin by name."""
