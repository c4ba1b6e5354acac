import type { IconName } from './icon-paths.ts';
import { ICON_PATHS } from './icon-paths.ts';

/** An icon. Screen readers skip it, so its button needs a label. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
