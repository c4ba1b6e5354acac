// Fails on phrases that make a text hard to understand (CONTRIBUTING.md, "Words"), and on citations of notes that are not in the repository.
// `node scripts/words.mjs src/engine docs/engine.md` checks only these paths.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './install.mjs';

const PHRASES = [
  [/(?<!docs\/|scripts\/)\b(?:reference|seeds)\/[\w.-]+|\bseeds? ?\d{3}\b|\bdecision \d+/i, 'cites a note that is not in the repository'],
  [/\b[Ww]hoever\b/, 'say who: the caller, the client, the operator'],
  [/\b(?:is|are|was|were|be|been) (?:said|told)\b/, 'say who does it: returns, logs, reports, prints'],
  [/\bof its own accord\b|\bwhat is wrong with it\b|\bwhich is the most\b/, 'see the pairs in CONTRIBUTING.md'],
  [/\b(?:is|are|was|were) (?:not )?looked at\b/, 'reads, checks or ignores'],
  [/\bgoes on\b|\bgo on\b/, 'continues'],
  [/\bwritten down\b|\bwrites? (?:it|them|this) down\b/, 'records, logs, stores'],
  [/\bso that it need not\b|\bneed not\b/, 'does not have to'],
];
const SOURCES = /[.](?:tsx?|mjs|md|txt|sh|css|html)$/;
const IGNORED = /^(?:test\/corpus|test\/schemas|docs\/reference\/|scripts\/words[.]mjs|CHANGELOG[.]md|package-lock[.]json)/;

const only = process.argv.slice(2);
const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...only], { cwd: ROOT, encoding: 'utf8' });
let bad = 0;
for (const file of new Set(list.split('\n').filter((name) => SOURCES.test(name) && !IGNORED.test(name)))) {
  if (!existsSync(join(ROOT, file))) continue;
  readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .forEach((line, at) => {
      for (const [pattern, advice] of PHRASES) {
        const found = pattern.exec(line);
        if (found === null) continue;
        bad += 1;
        console.error(`${file}:${at + 1}: "${found[0]}": ${advice}`);
      }
    });
}
console.log(`${bad} lines to rewrite`);
process.exit(bad === 0 ? 0 : 1);
