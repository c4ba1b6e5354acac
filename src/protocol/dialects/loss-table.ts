import type { DialectId } from '../ids.ts';
import { cortex } from './cortex/dialect.ts';
import { losses as cortexLosses } from './cortex/losses.ts';
import type { Dialect, Loss } from './dialect.ts';
import { promptkit } from './promptkit/dialect.ts';
import { losses as promptkitLosses } from './promptkit/losses.ts';
import { sam, samDocumented } from './sam/dialect.ts';
import { losses as samLosses } from './sam/losses.ts';
import { society } from './society/dialect.ts';
import { losses as societyLosses } from './society/losses.ts';
import { v01 } from './v01/dialect.ts';
import { losses as v01Losses } from './v01/losses.ts';
import { v02, v02Releases } from './v02/dialect.ts';
import type { Release } from './v02/releases.ts';
import { NEWEST_RELEASE, OLDER_RELEASES } from './v02/releases.ts';
import { v03, v03Rest, v03TaskId } from './v03/dialect.ts';
import { familyLosses, kindLosses, REST_LOSSES } from './v03/losses.ts';
import { v10, v10Generation } from './v10/dialect.ts';
import { generationLosses, mqttLosses, losses as v10Losses } from './v10/losses.ts';
import { mqtt01 } from './v10/mqtt.ts';

const V03: Pick<Release, 'losses' | 'transports'> = { losses: [], transports: true };

/** What the dialects of this package can't express. A new dialect has a line here, beside its line in registry.ts. */
const LOSSES: ReadonlyMap<DialectId, readonly Loss[]> = new Map([
  [v10.id, v10Losses],
  [v10Generation.id, generationLosses],
  [mqtt01.id, mqttLosses],
  ...[v03, v03TaskId].map((dialect) => [dialect.id, kindFamily(dialect, V03)] as const),
  [v03Rest.id, [...familyLosses({ operation: () => true, transports: true }), ...REST_LOSSES]],
  [v02.id, kindFamily(v02, NEWEST_RELEASE)],
  ...v02Releases.map((dialect, at) => [dialect.id, kindFamily(dialect, OLDER_RELEASES[at] ?? NEWEST_RELEASE)] as const),
  [v01.id, v01Losses],
  [society.id, societyLosses],
  [promptkit.id, promptkitLosses],
  [sam.id, samLosses],
  [samDocumented.id, samLosses],
  [cortex.id, cortexLosses],
]);

/** What a release with `kind` JSON can't express: what the family can't, and the members that came after it. */
function kindFamily({ methods }: Dialect, { losses, transports }: Pick<Release, 'losses' | 'transports'>): readonly Loss[] {
  const held = { operation: (operation: keyof typeof methods) => methods[operation] !== undefined, transports };
  return [...familyLosses(held), ...kindLosses(held), ...losses];
}

/** What a dialect can't express. All losses are listed and tested. */
export function dialectLosses(dialect: Dialect): readonly Loss[] {
  return dialect.losses ?? LOSSES.get(dialect.id) ?? [];
}
