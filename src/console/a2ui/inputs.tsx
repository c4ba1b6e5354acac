import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Json } from '#protocol';
import { isObject } from '#protocol';
import { matches } from './functions.ts';
import type { ComponentProps } from './pen.tsx';
import { boundTo, Complaints } from './pen.tsx';
import { failedChecks, itemsOf, resolved, words } from './values.ts';

/** A label above an input, and below it why its value is not accepted. */
function Labelled({ it, pen, id, children }: ComponentProps & { readonly id: string; readonly children: ComponentChildren }) {
  const label = words(resolved(it['label'], pen.scope));
  return (
    <div class="surface-input">
      <label for={id}>{label === '' ? words(it['id']) : label}</label>
      {children}
      {pen.isActive ? <Complaints texts={failedChecks(it['checks'], pen.scope)} /> : null}
    </div>
  );
}

export function TextFieldView({ it, pen }: ComponentProps) {
  const id = useId();
  const [value, enter] = boundTo({ it, pen }, 'value');
  const variant = words(it['variant']);
  const text = words(value);
  const pattern = words(it['validationRegexp']);
  const isWrong = pattern !== '' && text !== '' && !matches(text, pattern);
  const common = { id, value: text, disabled: !pen.isActive, 'aria-invalid': isWrong };
  return (
    <Labelled it={it} pen={pen} id={id}>
      <OneField variant={variant} enter={enter} common={common} />
      {isWrong ? <Complaints texts={['This does not have the form that the agent asks for.']} /> : null}
    </Labelled>
  );
}

interface OneFieldProps {
  readonly variant: string;
  readonly enter: (value: Json) => void;
  readonly common: { readonly id: string; readonly value: string; readonly disabled: boolean; readonly 'aria-invalid': boolean };
}

function OneField({ variant, enter, common }: OneFieldProps) {
  switch (variant) {
    case 'longText':
      return <textarea {...common} rows={4} onInput={(event) => enter(event.currentTarget.value)} />;
    case 'obscured':
      return <input {...common} type="password" autocomplete="off" onInput={(event) => enter(event.currentTarget.value)} />;
    case 'number': {
      const read = ({ value, valueAsNumber }: HTMLInputElement): Json => (Number.isFinite(valueAsNumber) ? valueAsNumber : value);
      return <input {...common} type="number" onInput={(event) => enter(read(event.currentTarget))} />;
    }
    default:
      return <input {...common} type="text" autocomplete="off" onInput={(event) => enter(event.currentTarget.value)} />;
  }
}

export function CheckBoxView({ it, pen }: ComponentProps) {
  const [value, enter] = boundTo({ it, pen }, 'value');
  return (
    <div class="surface-input">
      <label class="surface-check">
        <input type="checkbox" checked={value === true} disabled={!pen.isActive} onChange={(event) => enter(event.currentTarget.checked)} />
        {words(resolved(it['label'], pen.scope))}
      </label>
      {pen.isActive ? <Complaints texts={failedChecks(it['checks'], pen.scope)} /> : null}
    </div>
  );
}

/** One choice, or several. */
export function ChoiceView({ it, pen }: ComponentProps) {
  const name = useId();
  const [value, enter] = boundTo({ it, pen }, 'value');
  const [filter, setFilter] = useState('');
  const chosen = (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
  const isSingle = it['variant'] === 'mutuallyExclusive';
  const given = itemsOf(it['options']).filter((each) => isObject(each));
  const options = given.map((option) => ({ value: words(option['value']), label: words(resolved(option['label'], pen.scope)) }));
  const shown = options.filter(({ label }) => label.toLowerCase().includes(filter.toLowerCase()));
  const pick = (option: string, isOn: boolean): void => {
    const others = isSingle ? [] : chosen.filter((each) => each !== option);
    const next: Json = isOn ? [...others, option] : others;
    enter(next);
  };
  const label = words(resolved(it['label'], pen.scope));
  return (
    <fieldset class={`surface-input surface-choice ${it['displayStyle'] === 'chips' ? 'chips' : ''}`} disabled={!pen.isActive}>
      <legend>{label === '' ? words(it['id']) : label}</legend>
      {it['filterable'] === true ? (
        <input
          type="search"
          placeholder="Filter"
          aria-label="Filter"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      ) : null}
      {shown.map((option) => (
        <label key={option.value} class="surface-check">
          <input
            type={isSingle ? 'radio' : 'checkbox'}
            name={name}
            checked={chosen.includes(option.value)}
            onChange={(event) => pick(option.value, event.currentTarget.checked)}
          />
          {option.label}
        </label>
      ))}
      {pen.isActive ? <Complaints texts={failedChecks(it['checks'], pen.scope)} /> : null}
    </fieldset>
  );
}

export function SliderView({ it, pen }: ComponentProps) {
  const id = useId();
  const [value, enter] = boundTo({ it, pen }, 'value');
  const at = Number(value ?? it['min'] ?? 0);
  return (
    <Labelled it={it} pen={pen} id={id}>
      <div class="surface-row align-center">
        <input
          id={id}
          type="range"
          min={words(it['min'] ?? 0)}
          max={words(it['max'] ?? 100)}
          value={String(at)}
          disabled={!pen.isActive}
          onInput={(event) => enter(event.currentTarget.valueAsNumber)}
        />
        <output for={id}>{at}</output>
      </div>
    </Labelled>
  );
}

export function DateView({ it, pen }: ComponentProps) {
  const id = useId();
  const [value, enter] = boundTo({ it, pen }, 'value');
  const [hasDate, hasTime] = [it['enableDate'] !== false, it['enableTime'] === true];
  const type = hasDate ? (hasTime ? 'datetime-local' : 'date') : 'time';
  const length = { 'datetime-local': 16, date: 10, time: 5 }[type];
  const limits = Object.fromEntries(
    ['min', 'max'].flatMap((name) => (it[name] === undefined ? [] : [[name, words(resolved(it[name], pen.scope))]])),
  );
  return (
    <Labelled it={it} pen={pen} id={id}>
      <input
        {...limits}
        id={id}
        type={type}
        value={words(value).slice(0, length)}
        disabled={!pen.isActive}
        onInput={(event) => enter(event.currentTarget.value)}
      />
    </Labelled>
  );
}
