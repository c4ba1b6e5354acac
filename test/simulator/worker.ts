import { parentPort } from 'node:worker_threads';
import { simulate } from './world.ts';

// Thousands of expected errors are made in a seed. A seed that is replayed has the stack of each.
Error.stackTraceLimit = 0;

parentPort?.on('message', async (seed: number) => parentPort?.postMessage(await simulate(seed)));
