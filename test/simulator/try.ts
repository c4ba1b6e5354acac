import { simulate } from '/work/wt/sim/test/simulator/world.ts';

const [from, count, trace] = process.argv.slice(2);
const t = performance.now();
for (let s = Number(from); s < Number(from) + Number(count); s++) {
  const lines: string[] = [];
  const t0 = performance.now();
  const r = await simulate(s, undefined, trace ? (l) => lines.push(l) : undefined);
  console.log(s, r.violation ?? 'ok', r.steps, r.requests, r.faults, r.hash, (performance.now() - t0).toFixed() + 'ms');
  if (trace) console.log(lines.slice(-Number(trace)).join('\n'));
}
