import type { Json, JsonObject } from '#protocol';

/**
 * A form for a JSON Schema: objects are groups, choices are lists, other values are inputs, and deeply
 * nested ones are JSON.
 */
export function SchemaForm({ schema, path }: { readonly schema: JsonObject; readonly path: string }) {
  const properties = propertiesOf(schema);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return (
    <>
      {Object.entries(properties).map(([name, member]) => (
        <Field key={name} name={name} path={path === '' ? name : `${path}.${name}`} schema={member} isRequired={required.includes(name)} />
      ))}
    </>
  );
}

interface FieldProps {
  readonly name: string;
  readonly path: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** The input for one property of a JSON Schema. Objects are nested. */
function Field({ name, path, schema, isRequired }: FieldProps) {
  const type = kindOf(schema);
  const note = typeof schema['description'] === 'string' ? schema['description'] : '';
  const label = `${typeof schema['title'] === 'string' ? schema['title'] : name}${isRequired ? '' : ' (optional)'}`;
  if (type === 'object') {
    return (
      <fieldset>
        <legend>{label}</legend>
        <SchemaForm schema={schema} path={path} />
      </fieldset>
    );
  }
  if (type === 'boolean') {
    return (
      <label class="check">
        <input type="checkbox" name={path} defaultChecked={schema['default'] === true} />
        {label} <span class="dim">{note}</span>
      </label>
    );
  }
  const initial =
    schema['default'] === undefined ? '' : typeof schema['default'] === 'string' ? schema['default'] : JSON.stringify(schema['default']);
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the nested fields is its control
    <label>
      {label}
      {note === '' ? null : <span class="dim note">{note}</span>}
      {type === 'choice' ? (
        <select name={path} required={isRequired} defaultValue={initial}>
          {isRequired ? null : <option value="" />}
          {(schema['enum'] as readonly Json[]).map((one) => (
            <option key={String(one)} value={String(one)}>
              {String(one)}
            </option>
          ))}
        </select>
      ) : type === 'json' ? (
        <textarea
          name={path}
          rows={3}
          class="mono"
          required={isRequired}
          placeholder={JSON.stringify(schema['type'] === 'array' ? [] : {})}
          defaultValue={initial}
        />
      ) : (
        <Input kind={type} path={path} isRequired={isRequired} initial={initial} />
      )}
    </label>
  );
}

function Input({
  kind,
  path,
  isRequired,
  initial,
}: {
  readonly kind: Kind;
  readonly path: string;
  readonly isRequired: boolean;
  readonly initial: string;
}) {
  if (kind === 'number') return <input type="number" name={path} step="any" required={isRequired} defaultValue={initial} />;
  return <input type="text" name={path} required={isRequired} defaultValue={initial} />;
}

type Kind = 'object' | 'boolean' | 'number' | 'text' | 'choice' | 'json';

/** Which input fits a schema. `json`: a text area, for everything else. */
function kindOf(schema: JsonObject): Kind {
  if (Array.isArray(schema['enum'])) return 'choice';
  switch (schema['type']) {
    case 'object':
      return Object.keys(propertiesOf(schema)).length === 0 ? 'json' : 'object';
    case 'boolean':
      return 'boolean';
    case 'number':
    case 'integer':
      return 'number';
    case 'string':
      return 'text';
    default:
      return 'json';
  }
}

function propertiesOf(schema: JsonObject): Readonly<Record<string, JsonObject>> {
  const properties = schema['properties'];
  return typeof properties === 'object' && properties !== null ? (properties as unknown as Record<string, JsonObject>) : {};
}

/** Converts the inputs to the types of the schema. Empty optional values are left out. */
export function valueIn(schema: JsonObject, form: FormData, path: string): { readonly value?: Json; readonly problem: string } {
  const out: Record<string, Json> = {};
  for (const [name, member] of Object.entries(propertiesOf(schema))) {
    const at = path === '' ? name : `${path}.${name}`;
    const read = oneIn(member, form, at);
    if (read.problem !== '') return read;
    if (read.value !== undefined) out[name] = read.value;
  }
  return { value: out, problem: '' };
}

/**
 * Reads one property from the form. An empty input means that the property is absent, except for a
 * checkbox.
 */
function oneIn(schema: JsonObject, form: FormData, path: string): { readonly value?: Json; readonly problem: string } {
  const given = form.get(path);
  const text = typeof given === 'string' ? given : '';
  switch (kindOf(schema)) {
    case 'object':
      return valueIn(schema, form, path);
    case 'boolean':
      return { value: given !== null, problem: '' };
    case 'number':
      return text === '' ? { problem: '' } : { value: Number(text), problem: '' };
    case 'choice': {
      const chosen = (schema['enum'] as readonly Json[]).find((one) => String(one) === text);
      return chosen === undefined ? { problem: '' } : { value: chosen, problem: '' };
    }
    case 'text':
      return text === '' ? { problem: '' } : { value: text, problem: '' };
    case 'json':
      return jsonIn(text, path);
  }
}

function jsonIn(text: string, path: string): { readonly value?: Json; readonly problem: string } {
  if (text.trim() === '') return { problem: '' };
  try {
    return { value: JSON.parse(text) as Json, problem: '' };
  } catch {
    return { problem: `${path} must be JSON.` };
  }
}
