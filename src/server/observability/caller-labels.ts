import type { CallContext } from '#protocol';

/** Callers with a label of their own. Each label is a time series in the monitoring system. */
const CALLERS_MAX = 100;

/** Names callers in metrics. The first callers have a label of their own, the others share `other`. */
export function callerLabels(max: number = CALLERS_MAX): (caller: Pick<CallContext, 'principal' | 'tenant'>) => string {
  const known = new Set<string>();
  return ({ principal, tenant = '' }) => {
    const label = tenant === '' ? principal.id : `${tenant}/${principal.id}`;
    if (known.has(label)) return label;
    if (known.size >= max) return 'other';
    known.add(label);
    return label;
  };
}
