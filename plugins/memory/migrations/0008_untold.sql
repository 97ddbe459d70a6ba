-- What is about nobody is asked of nobody: a save need not even call it.
ALTER FUNCTION memory_is_untold(bigint) STRICT;
