import type { ComponentChildren, PartialInputHTMLAttributes, TargetedInputEvent } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Place } from '../scanner/chain.js';
import { t } from '../texts/texts.js';
import type { Loaded } from './load.js';

export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="heading">
      <h1>{title}</h1>
      {children && <div class="heading-actions">{children}</div>}
    </div>
  );
}

type Combobox = {
  role: 'combobox';
  'aria-expanded': boolean;
  'aria-controls': string;
  'aria-autocomplete': 'list';
  'aria-activedescendant'?: string;
};

type FieldProps = {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string | undefined;
  error?: string | undefined;
  type?: 'text' | 'password' | 'date';
  /** What the field is for, if a device may fill it. */
  keys?: Place;
  /** For a field with a list of choices. */
  combobox?: Combobox;
} & Pick<
  PartialInputHTMLAttributes<HTMLInputElement>,
  | 'autocomplete'
  | 'disabled'
  | 'inputMode'
  | 'maxLength'
  | 'name'
  | 'onChange'
  | 'onKeyDown'
  | 'ref'
  | 'required'
>;

/** A text field with its label. Numbers use it too, so that every field can be restored after a scan. */
export function Field({
  label,
  value,
  onValue,
  hint,
  error,
  type = 'text',
  keys,
  combobox,
  ...input
}: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  const attributes = {
    id,
    autocomplete: 'off' as const,
    spellcheck: false,
    ...input,
    'data-keys': keys,
    value,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': note ? `${id}-note` : undefined,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => onValue(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {/* The attributes of an element depend on its type, so that each type is an element of its own. */}
      {type === 'password' ? (
        <input {...attributes} type="password" />
      ) : type === 'date' ? (
        <input {...attributes} type="date" />
      ) : (
        <input {...attributes} {...combobox} type="text" />
      )}
      {note && (
        <span id={`${id}-note`} class={error ? 'field-error' : 'field-hint'}>
          {note}
        </span>
      )}
    </div>
  );
}

type ChoiceProps = {
  label: string;
  value: string;
  onValue: (value: string) => void;
  options: [value: string, text: string][];
};

export function Choice({ label, value, onValue, options }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

export function Problem({ text }: { text: string | undefined }) {
  return text ? (
    <p class="problem" role="alert">
      {text}
    </p>
  ) : null;
}

/** What to do if there is nothing to show. */
type EmptyProps = {
  title: string;
  /** Nothing else is on the page, so the title is its heading. */
  isPage?: boolean;
  children?: ComponentChildren;
};

export function Empty({ title, isPage = false, children }: EmptyProps) {
  const Title = isPage ? 'h1' : 'p';
  return (
    <div class="empty">
      <Title class="empty-title">{title}</Title>
      {children && <p>{children}</p>}
    </div>
  );
}

/** A bar that appears after a moment, so that short waits do not flicker. */
export function Progress({ isOn }: { isOn: boolean }) {
  return isOn ? <div class="progress" role="progressbar" aria-label={t('common.loading')} /> : null;
}

/** Shows loaded data, the progress, or why they could not be loaded. */
export function Content<Data>({
  of,
  children,
}: {
  of: Loaded<Data>;
  children: (data: Data) => ComponentChildren;
}) {
  return (
    <>
      <Progress isOn={of.isLoading} />
      {of.error && (
        <div class="problem" role="alert">
          {of.error}{' '}
          <button type="button" class="quiet" onClick={of.reload}>
            {t('common.retry')}
          </button>
        </div>
      )}
      {of.data !== undefined && children(of.data)}
    </>
  );
}

export type Column<Row> = {
  title: string;
  cell: (row: Row) => ComponentChildren;
  isNumber?: boolean;
  /** Hidden on narrow screens. */
  isExtra?: boolean;
};

type TableProps<Row> = {
  caption: string;
  rows: Row[];
  keyOf: (row: Row) => string;
  columns: Column<Row>[];
};

export function Table<Row>({ caption, rows, keyOf, columns }: TableProps<Row>) {
  const classOf = ({ isNumber, isExtra }: Column<Row>) =>
    [isNumber ? 'number' : '', isExtra ? 'extra' : ''].join(' ').trim() || undefined;
  return (
    // Focusable, so that a keyboard can scroll it.
    <div class="table" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Tint = 'good' | 'warn' | 'bad' | 'plain';

export const Tag = ({ tint = 'plain', children }: { tint?: Tint; children: ComponentChildren }) => (
  <span class={`tag tag-${tint}`}>{children}</span>
);

type DialogProps = {
  title: string;
  onClose?: () => void;
  /** Whether dialogs that open later stay behind it. */
  isInFront?: boolean;
  children: ComponentChildren;
};

/** Opens the dialog in front again, above one that has opened. */
let raiseFront = (): void => undefined;

/** A modal dialog. Without `onClose` it stays until its task is done. The focus begins in its first field. */
export function Dialog({ title, onClose, isInFront = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const open = () => {
    if (!dialog.current?.open) dialog.current?.showModal();
    const find = (selector: string) => dialog.current?.querySelector<HTMLElement>(selector);
    const first = FIRST.map(find).find((found) => found);
    // A field that took the focus itself keeps it.
    if (!dialog.current?.querySelector(':focus:not([data-close])')) first?.focus();
    // The next key replaces a measure, and is not appended to it.
    if (first instanceof HTMLInputElement && first.dataset['keys'] === 'measure') first.select();
  };
  // At once: the next key is for the dialog, however busy the device is.
  useLayoutEffect(() => {
    open();
    if (!isInFront) {
      raiseFront();
      return undefined;
    }
    const raise = () => {
      // The event of this close finds the dialog open.
      dialog.current?.close();
      open();
    };
    raiseFront = raise;
    return () => {
      if (raiseFront === raise) raiseFront = () => undefined;
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // The second Escape in a row cannot be prevented: the browser closes the dialog, but its task is not done.
      onClose={onClose ?? open}
    >
      <div class="heading">
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button type="button" class="quiet" data-close onClick={onClose}>
            {t('common.close')}
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
}

/** Where the focus of a dialog begins: where it says so, in its first field, or on Close. */
const FIRST = ['.dialog-first', 'input:not([disabled]), select, textarea', '[data-close]'];
