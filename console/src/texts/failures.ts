import { settings } from '../device/settings.js';
import { failuresEs } from './failures-es.js';

type Failure = { code: string; message: string; errors: { field: string }[] };

const SPANISH: Record<string, string> = { ...failuresEs };

/** Adds the failures of operations that only a part of the console calls. */
export function addFailures(texts: Record<string, string>): void {
  Object.assign(SPANISH, texts);
}

/** Returns what the service refused, in the language of this device. Codes of a later version have the service's English text. */
export function failureText({ code, message, errors }: Failure): string {
  const text = settings.value.language === 'es' ? SPANISH[code] : undefined;
  if (text === undefined) return message;
  const fields = [...new Set(errors.map(({ field }) => field).filter(Boolean))];
  if (fields.length === 0) return text;
  const shown = fields.slice(0, FIELDS_SHOWN).join(', ');
  return `${text} (${shown}${fields.length > FIELDS_SHOWN ? ', …' : ''})`;
}

const FIELDS_SHOWN = 5;
