import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { excludes, verifies } from './requirements.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = `${ROOT}/.agents/skills/parley`;
const skill = (): string => readFileSync(`${FOLDER}/SKILL.md`, 'utf8');
const examples = (): string => readFileSync(`${FOLDER}/references/examples.md`, 'utf8');

describe('the agent skill', () => {
  verifies('A2ACLI_SKILL_001', 'names the binary, checks that it is there, and points to the help', () => {
    const text = skill();
    expect(text).toMatch(/^---\nname: parley\ndescription: .+\ncompatibility: .*`parley`.*\n---\n/);
    for (const words of ['parley --version', 'parley help COMMAND', '-o json', '--task-id', 'A2ACLI_BEARER', 'references/examples.md']) {
      expect(text).toContain(words);
    }
    for (const [, command = ''] of examples().matchAll(/^parley (\w+)/gm)) {
      expect(existsSync(`${ROOT}/src/cli/${command}.ts`), `parley ${command}`).toBe(true);
    }
  });

  excludes('A2ACLI_SKILL_001', 'is one file, does not list the commands, and installs nothing', () => {
    expect(globSync('{.agents,.claude,docs,examples,src}/**/SKILL.md', { cwd: ROOT })).toEqual(['.agents/skills/parley/SKILL.md']);
    const text = skill();
    expect(text.split('\n').length).toBeLessThan(40);
    const named = new Set([...text.matchAll(/`parley ([a-z]+)/g)].map(([, command]) => command));
    expect([...named]).toEqual(['help']);
    expect(text + examples()).not.toMatch(/npm (?:install|i|ci)\b|npx |curl /);
  });

  verifies('A2ACLI_SKILL_002', 'is published with the package, apart from the specification', () => {
    const { files } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { files: readonly string[] };
    expect(files).toContain('.agents');
    expect(examples()).toMatch(/```sh\nparley send /);
  });

  excludes('A2ACLI_SKILL_002', 'contains no requirements of the specification', () => {
    expect(skill() + examples()).not.toMatch(/\b(?:MUST|SHALL|SHOULD|REQUIRED|A2ACLI_[A-Z]+_\d{3})\b/);
  });
});
