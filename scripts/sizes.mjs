// Fails on files and functions that are too long to read. The numbers are maximums, not goals.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from './install.mjs';

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;

if (process.argv[1]?.endsWith('sizes.mjs')) process.exit(checkSizes() === 0 ? 0 : 1);

function checkSizes() {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const problems = [...new Set(list.split('\n').filter((name) => name !== '' && !name.includes('/generated/')))].flatMap(problemsOf);
  for (const problem of problems) console.error(problem);
  return problems.length;
}

function problemsOf(file) {
  let lines;
  try {
    lines = readFileSync(`${ROOT}/${file}`, 'utf8').split('\n');
  } catch {
    return []; // deleted in the working tree
  }
  const tooLong = lines.length - 1 > FILE_LINES_MAX ? [`${file} has ${lines.length - 1} lines; the maximum is ${FILE_LINES_MAX}`] : [];
  if (!file.startsWith('src/') || file.endsWith('.test.ts')) return tooLong;
  return [
    ...tooLong,
    ...longFunctions(lines).map(
      ({ line, length }) => `${file}:${line} has a function of ${length} lines; the maximum is ${FUNCTION_LINES_MAX}`,
    ),
  ];
}

/** Top-level functions that are too long, found by indentation: the formatter puts their braces into the first column. */
export function longFunctions(lines) {
  const found = [];
  let start = -1;
  lines.forEach((text, at) => {
    if (/^(export )?(async )?function\b/.test(text)) start = at;
    if (text !== '}' || start < 0) return;
    if (at - start + 1 > FUNCTION_LINES_MAX) found.push({ line: start + 1, length: at - start + 1 });
    start = -1;
  });
  return found;
}
