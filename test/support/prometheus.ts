/**
 * What `promtool check metrics` complains about, as far as it concerns us: the rules of Prometheus' text format and of its naming
 * practices. CI has no promtool, so the test checks them itself.
 */
export function metricProblems(text: string): readonly string[] {
  const problems: string[] = [];
  const types = new Map<string, string>();
  const helps = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') helps.set(name, rest);
    else if (keyword === 'TYPE') {
      if (types.has(name)) problems.push(`${name}: two TYPE lines`);
      types.set(name, rest);
      problems.push(...nameProblems(name, rest, helps.get(name)));
    } else problems.push(...sampleProblems(line, types));
  }
  if (!text.endsWith('\n')) problems.push('the last line has no line break');
  return problems;
}

const UNITS = /_(?:milliseconds|ms|minutes|hours|days|kilobytes|kb|megabytes|mb|gb|percent)(?:_|$)/;

function nameProblems(name: string, type: string, help: string | undefined): readonly string[] {
  const problems: string[] = [];
  if (help === undefined || help.trim() === '') problems.push(`${name}: no help text`);
  if (!['counter', 'gauge', 'histogram'].includes(type)) problems.push(`${name}: unknown type ${type}`);
  if ((type === 'counter') !== name.endsWith('_total')) problems.push(`${name}: counters, and only they, end with _total`);
  if (/_(?:count|sum|bucket|info)$/.test(name)) problems.push(`${name}: a suffix of histograms`);
  if (/[A-Z]/.test(name)) problems.push(`${name}: not in snake case`);
  if (UNITS.test(name)) problems.push(`${name}: not a base unit`);
  if (/_(?:gauge|counter|histogram)(?:_|$)/.test(name)) problems.push(`${name}: names its type`);
  return problems;
}

const SAMPLE = /^([a-z_:][\w:]*)(\{(?:[a-z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\S+)$/i;

function sampleProblems(line: string, types: ReadonlyMap<string, string>): readonly string[] {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === '') return [`not a sample: ${line}`];
  const base = types.has(name) ? name : name.replace(/_(?:count|sum|bucket)$/, '');
  const type = types.get(base);
  const problems: string[] = [];
  if (type === undefined) problems.push(`${name}: no TYPE line before it`);
  if (type !== 'histogram' && /[{,]le="/.test(labels)) problems.push(`${name}: only histograms have the label le`);
  if (/[{,]quantile="/.test(labels)) problems.push(`${name}: only summaries have the label quantile`);
  if (Number.isNaN(Number(value)) && !/^[+-]Inf$|^NaN$/.test(value)) problems.push(`${name}: ${value} is no number`);
  return problems;
}
