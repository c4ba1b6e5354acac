// Files, functions and classes that have grown too large to read. The numbers are ceilings, not goals.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from './install.mjs';

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;

const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.mjs'], {
  cwd: ROOT,
  encoding: 'utf8',
});
let bad = 0;
for (const file of new Set(list.split('\n').filter((name) => name !== ''))) {
  let lines;
  try {
    lines = readFileSync(`${ROOT}/${file}`, 'utf8').split('\n');
  } catch {
    continue; // deleted in the working tree
  }
  if (lines.length - 1 > FILE_LINES_MAX) complain(`${file} has ${lines.length - 1} lines; at most ${FILE_LINES_MAX}`);
  if (file.startsWith('src/') && !file.endsWith('.test.ts')) checkFunctions(file, lines);
}
process.exit(bad === 0 ? 0 : 1);

/** Top-level functions by indentation: the formatter puts their braces where this looks. */
function checkFunctions(file, lines) {
  let start = -1;
  lines.forEach((line, at) => {
    if (/^(export )?(async )?function\b/.test(line)) start = at;
    if (line === '}' && start >= 0) {
      if (at - start + 1 > FUNCTION_LINES_MAX)
        complain(`${file}:${start + 1} a function of ${at - start + 1} lines; at most ${FUNCTION_LINES_MAX}`);
      start = -1;
    }
  });
}

function complain(text) {
  bad += 1;
  console.error(text);
}
