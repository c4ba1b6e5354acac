import type { JsonObject } from '#protocol';
import type { SurfaceComponent } from './catalog.ts';

/** A user interface that an agent shows, of A2UI's basic catalog. */
export interface SurfaceDefinition {
  /** Yielding the same id again updates the surface. */
  readonly id: string;
  /** The components by their ids. `root` is drawn. Absent: only the data changes. */
  readonly components?: { readonly root: SurfaceComponent; readonly [id: string]: SurfaceComponent };
  /** The data model that `{ path: '/name' }` refers to. */
  readonly data?: JsonObject;
  /** The client sends the data model with every message. Default false. */
  readonly sendDataModel?: boolean;
  /** For clients without A2UI. Default: a text that is made of the components. */
  readonly text?: string;
}

/** A surface to yield. */
export interface SurfaceOutput extends SurfaceDefinition {
  readonly kind: 'surface';
  /** The surface is shown already: only its components and its data are sent. */
  readonly isUpdate: boolean;
}
