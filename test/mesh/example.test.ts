import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { programOf, type RunningBroker, startMosquitto } from '../support/brokers.ts';
import { suiteNeeding } from '../support/needs.ts';

let broker: RunningBroker | undefined;
afterEach(() => broker?.stop());

suiteNeeding('mosquitto', programOf('mosquitto') !== undefined, 'examples/mesh', () => {
  it('delegates to two workers and gets both results, though one is killed', async () => {
    broker = await startMosquitto();
    const run = fileURLToPath(new URL('../../examples/mesh/run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=our-src', run, broker.url]);
    expect(stdout).toContain('the researcher is at work; killing it');
    expect(stdout).toContain('researcher completed: three facts about bees\n');
    expect(stdout).toContain('writer completed: All about bees!\n');
  });
});
