import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { verifies } from './requirements.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SKILL = '.agents/skills/parley/SKILL.md';

describe('the skill', () => {
  verifies('A2ACLI_SKILL_001', 'is the only one, is short, and refers to the help', async () => {
    const all = globSync('{.agents,.claude,docs,examples,src}/**/SKILL.md', { cwd: ROOT });
    expect(all).toEqual([SKILL]);
    const text = readFileSync(`${ROOT}/${SKILL}`, 'utf8');
    expect(text).toMatch(/^---\nname: parley\ndescription: .+\n---\n/);
    expect(text.split('\n').length).toBeLessThan(40);
    expect(text).toContain('parley help COMMAND');
    for (const [, command = ''] of text.matchAll(/`parley (\w+)/g)) {
      const isKnown = command === 'help' || existsSync(`${ROOT}/src/cli/${command}.ts`);
      expect(isKnown, `parley ${command}`).toBe(true);
    }
  });

  verifies('A2ACLI_SKILL_002', 'has no normative text', async () => {
    expect(readFileSync(`${ROOT}/${SKILL}`, 'utf8')).not.toMatch(/\b(?:MUST|SHALL|SHOULD|REQUIRED|A2ACLI_[A-Z]+_\d{3})\b/);
  });
});
