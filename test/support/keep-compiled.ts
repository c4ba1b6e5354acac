import { flushCompileCache } from 'node:module';

// Loaded by Node before a child's program. Node writes the compile cache when a process ends by itself, and most children are killed.
const PAUSE_MS = 1000;
setTimeout(flushCompileCache, PAUSE_MS).unref();
