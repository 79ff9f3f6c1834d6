import { settings } from '../device/settings.js';
import { failuresEs } from './failures-es.js';

type Failure = { code: string; message: string; errors: { field: string }[] };

/** Returns what the service refused, in the language of this device. Codes of a later version have the service's English text. */
export function failureText({ code, message, errors }: Failure): string {
  const text = settings.value.language === 'es' ? failuresEs[code] : undefined;
  if (text === undefined) return message;
  const fields = [...new Set(errors.map(({ field }) => field).filter(Boolean))];
  if (fields.length === 0) return text;
  const shown = fields.slice(0, FIELDS_SHOWN).join(', ');
  return `${text} (${shown}${fields.length > FIELDS_SHOWN ? ', …' : ''})`;
}

const FIELDS_SHOWN = 5;
