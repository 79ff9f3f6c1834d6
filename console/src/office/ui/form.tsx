import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { t } from '../../texts/texts.js';
import { Field, Problem } from '../../ui/parts.js';
import { failureOf, fieldFailuresOf, isOf } from './failure.js';

export type FormState<Values> = {
  values: Values;
  set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  errorOf: (name: keyof Values) => string | undefined;
  error: string | undefined;
  isBusy: boolean;
  isChanged: boolean;
  submit: () => void;
  id: string;
};

type Rules<Values> = {
  /** A failure that is about one field although the envelope names none: the code, and the field. */
  fieldOf?: Record<string, keyof Values>;
};

/**
 * The state of a form. What the service refuses is shown at the fields that it names. A failure loses nothing: the values stay until the
 * service has taken them.
 */
export function useForm<Values extends Record<string, string | boolean>>(
  initial: Values,
  send: (values: Values) => Promise<unknown>,
  { fieldOf = {} }: Rules<Values> = {},
): FormState<Values> {
  const id = useId();
  const [values, setValues] = useState(initial);
  const [failures, setFailures] = useState<Record<string, string>>({});
  const [error, setError] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const isRunning = useRef(false);

  const fail = (failure: unknown) => {
    const known = Object.entries(fieldFailuresOf(failure)).filter(([name]) => name in initial);
    const [, ofCode] = Object.entries(fieldOf).find(([code]) => isOf(failure, code)) ?? [];
    const named = ofCode === undefined ? known : [[String(ofCode), failureOf(failure)] as const];
    setFailures(Object.fromEntries(named));
    setError(named.length > 0 ? t('form.check') : failureOf(failure));
    // The person corrects the first of them.
    queueMicrotask(() =>
      document.getElementById(id)?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    );
  };
  const submit = () => {
    if (isRunning.current) return;
    isRunning.current = true;
    setIsBusy(true);
    setError(undefined);
    setFailures({});
    send(values)
      .catch(fail)
      .finally(() => {
        isRunning.current = false;
        setIsBusy(false);
      });
  };
  return {
    values,
    set: (name, value) => setValues((last) => ({ ...last, [name]: value })),
    errorOf: (name) => failures[String(name)],
    error,
    isBusy,
    isChanged: Object.keys(initial).some((name) => initial[name] !== values[name]),
    submit,
    id,
  };
}

type FormProps<Values> = { of: FormState<Values>; submit: string; children: ComponentChildren };

/** A form with its button. Enter in a field submits it. */
export const Form = <Values,>({ of, submit, children }: FormProps<Values>) => (
  <form
    id={of.id}
    class="stack"
    noValidate
    onSubmit={(event) => {
      event.preventDefault();
      of.submit();
    }}
  >
    {children}
    <Problem text={of.error} />
    <div class="actions">
      <button type="submit" class="primary" disabled={of.isBusy}>
        {submit}
      </button>
    </div>
  </form>
);

type Texts<Values> = {
  [Name in keyof Values]: Values[Name] extends string ? Name : never;
}[keyof Values];

type TextProps<Values> = {
  of: FormState<Values>;
  name: Texts<Values>;
  label: string;
  hint?: string | undefined;
  maxLength?: number;
  type?: 'text' | 'password' | 'date';
  inputMode?: 'decimal' | 'numeric' | 'email' | 'url';
  isRequired?: boolean;
  isDisabled?: boolean;
};

/** A text field of a form. */
export const Text = <Values,>({
  of,
  name,
  label,
  isRequired = false,
  isDisabled = false,
  ...field
}: TextProps<Values>) => (
  <Field
    {...field}
    label={isRequired ? label : t('form.optional', { label })}
    name={String(name)}
    // `name` is one of the texts.
    value={of.values[name] as string}
    onValue={(value) => of.set(name, value as Values[typeof name])}
    error={of.errorOf(name)}
    required={isRequired}
    disabled={isDisabled}
  />
);
