import { isEqual, resolve, type Media, type Parameter, type RequestBody } from '../contract.js';
import { breaks, enter, extendsContract, type Position } from '../findings.js';
import { shown } from '../schemas/keywords.js';
import { compareSchemas } from '../schemas/compare-schemas.js';

export function compareParameters(at: Position, before: Parameter[] = [], after: Parameter[] = []): void {
  const old = byName(before.map((parameter) => resolve(at.before, parameter)));
  const current = byName(after.map((parameter) => resolve(at.after, parameter)));
  for (const [key, parameter] of old) {
    const here = enter(at, key, parameter.name);
    const now = current.get(key);
    if (now) compareParameter(here, parameter, now);
    else if (at.direction === 'request') breaks(here, 'It was removed. The service ignores it now.');
    else breaks(here, 'It was removed. Receivers that read it fail.');
  }
  for (const [key, { name, required }] of current) {
    if (old.has(key)) continue;
    const here = enter(at, key, name);
    if (required && at.direction === 'request')
      breaks(here, 'It is new and required. Requests without it are rejected.');
    else extendsContract(here, 'It is new.');
  }
}

function byName(parameters: Parameter[]): Map<string, Parameter> {
  const keyOf = ({ name, in: place }: Parameter) =>
    // Names of headers are case-insensitive.
    place === 'header' ? `header ${name.toLowerCase()}` : `${place} parameter ${name}`;
  return new Map(parameters.map((parameter) => [keyOf(parameter), parameter]));
}

function compareParameter(at: Position, before: Parameter, after: Parameter): void {
  const [old, current] = [before.required ?? false, after.required ?? false];
  if (old !== current) {
    if (at.direction === 'request' && current)
      breaks(at, 'It is required now. Requests without it are rejected.');
    else if (at.direction === 'response' && old)
      breaks(at, 'It is optional now. Receivers that rely on it fail.');
    else extendsContract(at, current ? 'It is always present now.' : 'It is optional now.');
  }
  if (!isEqual(encodingOf(before), encodingOf(after)))
    breaks(at, 'The way to write it changed (style, explode or content).');
  if (!before['deprecated'] && after['deprecated']) extendsContract(at, 'It is deprecated now.');
  compareSchemas(at, before.schema, after.schema);
}

function encodingOf({ in: place, style, explode, allowReserved = false, content }: Parameter) {
  // The defaults of OpenAPI.
  const chosen = style ?? (place === 'query' || place === 'cookie' ? 'form' : 'simple');
  return [chosen, explode ?? chosen === 'form', allowReserved, Object.keys(content ?? {})];
}

export function compareBody(
  at: Position,
  before: RequestBody | undefined,
  after: RequestBody | undefined,
): void {
  const here = enter(at, 'request body', at.name);
  const [old, current] = [before && resolve(at.before, before), after && resolve(at.after, after)];
  if (!old || !current) {
    compareExistence(here, old, current);
    return;
  }
  if (!old.required && current.required)
    breaks(here, 'It is required now. Requests without it are rejected.');
  if (old.required && !current.required) extendsContract(here, 'It is optional now.');
  compareSize(here, old['x-max-body-bytes'], current['x-max-body-bytes']);
  compareMediaTypes(here, old.content, current.content);
}

function compareExistence(
  at: Position,
  before: RequestBody | undefined,
  after: RequestBody | undefined,
): void {
  if (before) breaks(at, 'It was removed. The service ignores it now.');
  else if (after?.required) breaks(at, 'It is new and required. Requests without it are rejected.');
  else if (after) extendsContract(at, 'It is new.', { allowsNewCalls: true });
}

function compareSize(at: Position, before = Infinity, after = Infinity): void {
  const bytes = (limit: number) => (limit === Infinity ? 'unlimited' : `${limit} bytes`);
  const what = `x-max-body-bytes was ${bytes(before)} and is ${bytes(after)}.`;
  if (after < before) breaks(at, `${what} Larger bodies get 413.`);
  if (after > before) extendsContract(at, what);
}

/** Compares the contents of a body in each media type. Also for responses and webhooks. */
export function compareMediaTypes(
  at: Position,
  before: Record<string, Media> = {},
  after: Record<string, Media> = {},
): void {
  const isOnly = Object.keys(before).length === 1;
  for (const [mediaType, media] of Object.entries(before)) {
    const here = isOnly ? at : enter(at, `${at.place} ${mediaType}`, at.name);
    const now = after[mediaType];
    if (!now) breaks(here, `The media type ${mediaType} was removed.`, { names: [mediaType] });
    else {
      compareSchemas(here, media.schema, now.schema);
      compareEncoding(here, media.encoding, now.encoding);
    }
  }
  for (const mediaType of Object.keys(after).filter((each) => !(each in before)))
    extendsContract(at, `The media type ${mediaType} is new.`, {
      names: [mediaType],
      allowsNewCalls: at.direction === 'request',
    });
}

function compareEncoding(at: Position, before: Media['encoding'] = {}, after: Media['encoding'] = {}): void {
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const types = [before, after].map((encoding) => encoding[field]?.contentType);
    const [old, current] = types.map((list) => list?.split(',').map((type) => type.trim()));
    if (!current || old?.every((type) => current.includes(type))) continue;
    const what = `The content type of ${field} was ${shown(types[0])} and is ${shown(types[1])}.`;
    breaks(at, `${what} Other content types are rejected.`, { names: [field] });
  }
}
