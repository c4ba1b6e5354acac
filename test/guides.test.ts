import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, it } from 'vitest';
import { programOf } from './support/brokers.ts';
import { freePort } from './support/free-port.ts';
import { GuideReader, stepsOf } from './support/guide.ts';
import { suiteNeeding } from './support/needs.ts';

/** Follows every guide from its first block to its last, in one folder, as a reader does. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Programs that a guide starts. */
const NEEDS: Readonly<Record<string, string>> = { 'mesh.md': 'mosquitto' };
const STEP_MS = 120_000;
/** A guide that needs several machines has commands to read, and none to run: its `text` blocks are not steps. */
const guides = readdirSync(join(ROOT, 'docs/guides'))
  .sort()
  .filter((name) => stepsOf(`docs/guides/${name}`).length > 0);

for (const name of guides) {
  const page = `docs/guides/${name}`;
  const needed = NEEDS[name];
  const ports = { node: await freePort(), broker: await freePort() };
  suiteNeeding(needed ?? 'nothing', needed === undefined || programOf(needed) !== undefined, page, () => {
    const reader = new GuideReader(ports);
    afterAll(() => reader.stop());
    for (const step of stepsOf(page)) {
      it(`line ${step.line}: ${step.kind}${step.file === undefined ? '' : ` ${step.file}`}`, () => reader.do(step), STEP_MS);
    }
  });
}
