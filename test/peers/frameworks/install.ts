import { frameworkPython } from './packages.ts';

// `install.ts NAME…`: installs frameworks into .cache, before they run without a network.
for (const name of process.argv.slice(2)) frameworkPython(name);
