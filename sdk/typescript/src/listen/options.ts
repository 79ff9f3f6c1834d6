import { parseArgs } from 'node:util';
import { CrossdockError } from '../errors.js';

export const HELP = `Usage: crossdock-listen --to http://127.0.0.1:8080/ [options]

Reads the events of a courier, and posts each to a program on your machine, with the body and the signature of a webhook.

  --to URL          where to post
  --after NUMBER    begin after the event with this sequence; 0 begins with the oldest. Default: only new events are posted
  --until NUMBER    end after the event with this sequence
  --once            end when all events that are stored were posted, instead of waiting for new ones
  --type NAME       post only events of this type, for example package.created; may be repeated
  --courier ID      the courier, for users who are staff

  CROSSDOCK_URL             your instance, for example https://demo.crossdock.example
  CROSSDOCK_TOKEN           a token; or
  CROSSDOCK_USERNAME        a user, and
  CROSSDOCK_PASSWORD        its password. A code of the second factor is asked for
  CROSSDOCK_WEBHOOK_SECRET  signs the webhooks. Default: a new one, which is printed
  CROSSDOCK_API_TOKEN       sent as Authorization: Bearer, as with the api_token of the settings

Exit status: 0 if your program accepted every event, 1 if not or after an error, 2 if an option is wrong.
`;

export type Options = {
  to: string;
  /** The sequence after which to begin; undefined begins after the newest event. */
  after?: number;
  until?: number;
  once: boolean;
  types: readonly string[];
  courierId?: string;
};

/** A wrong option. The message says what to change. */
export class OptionError extends CrossdockError {
  override name = 'OptionError';
}

/** @returns undefined if the help is asked for. @throws OptionError */
export function readOptions(args: string[]): Options | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const { to, after, until, type = [], courier, once = false } = values;
  if (to === undefined)
    throw new OptionError('--to is missing: the URL of your program, such as http://127.0.0.1:8080/.');
  if (!/^https?:\/\//i.test(to) || !URL.canParse(to))
    throw new OptionError('--to must be a URL that begins with http:// or https://.');
  return {
    to,
    ...(after === undefined ? {} : { after: sequenceOf('--after', after) }),
    ...(until === undefined ? {} : { until: sequenceOf('--until', until) }),
    once,
    types: type,
    ...(courier === undefined ? {} : { courierId: courier }),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        to: { type: 'string' },
        after: { type: 'string' },
        until: { type: 'string' },
        once: { type: 'boolean' },
        type: { type: 'string', multiple: true },
        courier: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error));
  }
}

function sequenceOf(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new OptionError(`${name} must be the sequence of an event: a number such as 1902.`);
  return Number(text);
}
