"""What a deployment may switch on; each plugin is a package of its own."""
