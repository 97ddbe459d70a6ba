"""Who is who: keys, names, the directory of a server, and the resolver that refuses to guess."""
