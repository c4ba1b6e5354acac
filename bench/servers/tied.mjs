// Preloaded into the servers under test: they end with the process that started them, even if that was killed.
process.channel?.unref();
process.once('disconnect', () => process.exit(1));
