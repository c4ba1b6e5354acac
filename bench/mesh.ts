import { FULL, QUICK } from './figures/figure.ts';
import { benchMesh } from './figures/mesh.ts';

/** node --conditions=our-src bench/mesh.ts [--quick] */
for (const { what, value, beside, goal } of await benchMesh(process.argv.includes('--quick') ? QUICK : { ...FULL, rounds: 5, ms: 1500 })) {
  console.log(`${what}: ${value} (${beside}); goal ${goal}`);
}
process.exit();
