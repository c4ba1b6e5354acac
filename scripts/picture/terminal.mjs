// A terminal session as an SVG that moves: commands are typed, and their output appears. It works without scripts, so GitHub shows it.
const COLUMNS = 104;
const ROW = 18;
const TYPING_S = 1.2;
const READING_S = 1.6;
const PAUSE_S = 6;

/** Steps are `{ comment }` or `{ command, output }`. */
export function terminalSvg(steps, label) {
  const rows = [];
  let at = 0.4;
  for (const { comment, command, output = '' } of steps) {
    if (comment !== undefined) rows.push({ at, markup: '' }, { at, markup: `<tspan fill="#8b949e"># ${safe(comment)}</tspan>` });
    if (command === undefined) {
      at += 0.6;
      continue;
    }
    rows.push({ at, typed: true, markup: `<tspan fill="#7ee787">$ </tspan><tspan fill="#fff">${safe(command)}</tspan>` });
    at += TYPING_S;
    for (const line of output === '' ? [] : output.split('\n').flatMap(wrapped)) rows.push({ at, markup: safe(line) });
    at += READING_S;
  }
  if (rows[0]?.markup === '') rows.shift();
  const total = at + PAUSE_S;
  const height = rows.length * ROW + 32;
  const styles = rows.map((row, index) => style(row, index, total)).join('\n');
  const body = rows.map(
    ({ markup }, index) => `<text class="r r${index}" x="20" y="${index * ROW + 30}" xml:space="preserve">${markup}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="${height}" viewBox="0 0 900 ${height}" role="img" aria-label="${safe(label)}">
<style>
.r { animation-duration: ${total.toFixed(1)}s; animation-iteration-count: infinite; animation-timing-function: steps(1, end); }
${styles}
@media (prefers-reduced-motion: reduce) { .r { animation: none } }
</style>
<rect width="900" height="${height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5" fill="#c9d1d9">
${body.join('\n')}
</g>
</svg>
`;
}

/** A row is invisible before its time. A command is uncovered from left to right, as if it was typed. */
function style({ at, typed = false }, index, total) {
  const percent = (seconds) => `${((seconds / total) * 100).toFixed(2)}%`;
  if (!typed)
    return `@keyframes k${index} { 0% { opacity: 0 } ${percent(at)}, 100% { opacity: 1 } } .r${index} { animation-name: k${index} }`;
  const hidden = 'clip-path: inset(0 100% 0 0)';
  const shown = 'clip-path: inset(0 0 0 0)';
  return `@keyframes k${index} { 0%, ${percent(at)} { ${hidden}; animation-timing-function: steps(24, end) } ${percent(at + TYPING_S * 0.8)}, 100% { ${shown} } } .r${index} { animation-name: k${index} }`;
}

function wrapped(text) {
  const rows = [];
  for (let rest = text; ; ) {
    if (rest.length <= COLUMNS) return [...rows, rest];
    const space = rest.lastIndexOf(' ', COLUMNS);
    const end = space > COLUMNS / 2 ? space : COLUMNS;
    rows.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
}

function safe(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
