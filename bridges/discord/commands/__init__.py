"""Every command of the registry in Discord's own form: slash commands, menus, buttons, forms."""
