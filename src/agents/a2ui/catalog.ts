import type { Json } from '#protocol';

/** A value, a place in the data model, or the result of a function of the catalog. */
export type Dynamic<T extends Json = string> =
  | T
  | { readonly path: string }
  | { readonly call: string; readonly args: { readonly [name: string]: Json } };

/** Fixed children by their ids, or one for each item of a list in the data model. */
export type SurfaceChildren = readonly string[] | { readonly componentId: string; readonly path: string };

/** What happens on a click: an event for the agent, or a function of the client. */
export type SurfaceButtonAction =
  | { readonly event: { readonly name: string; readonly context?: { readonly [name: string]: Dynamic<Json> } } }
  | { readonly functionCall: { readonly call: string; readonly args: { readonly [name: string]: Json } } };

interface SurfaceCheck {
  readonly condition: Dynamic<boolean>;
  readonly message: string;
}

interface InputComponent {
  readonly checks?: readonly SurfaceCheck[];
}

interface LayoutComponent {
  readonly children: SurfaceChildren;
  readonly justify?: 'start' | 'center' | 'end' | 'spaceBetween' | 'spaceAround' | 'spaceEvenly' | 'stretch';
  readonly align?: 'start' | 'center' | 'end' | 'stretch';
}

/** The components of A2UI's basic catalog 0.9.1, by name. */
export interface SurfaceCatalog {
  readonly Text: { readonly text: Dynamic; readonly variant?: 'h1' | 'h2' | 'h3' | 'h4' | 'h5' | 'caption' | 'body' };
  readonly Image: {
    readonly url: Dynamic;
    readonly description?: Dynamic;
    readonly fit?: 'contain' | 'cover' | 'fill' | 'none' | 'scaleDown';
    readonly variant?: 'icon' | 'avatar' | 'smallFeature' | 'mediumFeature' | 'largeFeature' | 'header';
  };
  readonly Icon: { readonly name: Dynamic };
  readonly Video: { readonly url: Dynamic };
  readonly AudioPlayer: { readonly url: Dynamic; readonly description?: Dynamic };
  readonly Row: LayoutComponent;
  readonly Column: LayoutComponent;
  readonly List: {
    readonly children: SurfaceChildren;
    readonly direction?: 'vertical' | 'horizontal';
    readonly align?: LayoutComponent['align'];
  };
  readonly Card: { readonly child: string };
  readonly Divider: { readonly axis?: 'horizontal' | 'vertical' };
  readonly Tabs: { readonly tabs: readonly { readonly title: Dynamic; readonly child: string }[] };
  readonly Modal: { readonly trigger: string; readonly content: string };
  readonly Button: InputComponent & {
    readonly child: string;
    readonly action: SurfaceButtonAction;
    readonly variant?: 'default' | 'primary' | 'borderless';
  };
  readonly TextField: InputComponent & {
    readonly label: Dynamic;
    readonly value?: Dynamic;
    readonly variant?: 'shortText' | 'longText' | 'number' | 'obscured';
    readonly validationRegexp?: string;
  };
  readonly CheckBox: InputComponent & { readonly label: Dynamic; readonly value: Dynamic<boolean> };
  readonly ChoicePicker: InputComponent & {
    readonly options: readonly { readonly label: Dynamic; readonly value: string }[];
    readonly value: Dynamic<readonly string[]>;
    readonly label?: Dynamic;
    readonly variant?: 'multipleSelection' | 'mutuallyExclusive';
    readonly displayStyle?: 'checkbox' | 'chips';
    readonly filterable?: boolean;
  };
  readonly Slider: InputComponent & {
    readonly value: Dynamic<number>;
    readonly max: number;
    readonly min?: number;
    readonly label?: Dynamic;
  };
  readonly DateTimeInput: InputComponent & {
    readonly value: Dynamic;
    readonly enableDate?: boolean;
    readonly enableTime?: boolean;
    readonly label?: Dynamic;
  };
}

/** One component of a surface, with its id as the key: `{ component: 'Text', text: 'Hello' }`. */
export type SurfaceComponent = {
  readonly [Name in keyof SurfaceCatalog]: { readonly component: Name; readonly weight?: number } & SurfaceCatalog[Name];
}[keyof SurfaceCatalog];
