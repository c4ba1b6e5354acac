import { computed } from '@preact/signals';
import { NAV } from './nav.ts';
import { hasOthers } from './replicas/state.ts';

/** The pages of the menu. A node that is alone has no page about others. */
export const menu = computed(() => NAV.filter(([to]) => to !== '/replicas' || hasOthers.value));
