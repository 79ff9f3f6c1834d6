import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A courier's system as couriers' developers in the region write it. It knows the flat package only from their
// documents, so it uses nothing of the contract.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const OFFSET = '[+-]\\d{2}:\\d{2}$';
const DAY = new RegExp(`^\\d{4}-\\d{2}-\\d{2}T00:00:00${OFFSET}`);
const MOMENT = new RegExp(`^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{7}${OFFSET}`);

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFilled: Check = (value) => typeof value === 'string' && value !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => typeof value === 'number' && value >= 0;
const isUuid: Check = (value) => typeof value === 'string' && UUID.test(value);
const isUuidOrEmpty: Check = (value) => value === '' || isUuid(value);
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value) && !Number.isNaN(Date.parse(value));

const FIELDS: Record<string, Check> = {
  PackageID: isUuid,
  CourierID: isUuid,
  ManifestID: isUuidOrEmpty,
  CollectionID: isUuidOrEmpty,
  TrackingNumber: isFilled,
  ControlNumber: isFilled,
  FirstName: isText,
  LastName: isText,
  UserCode: isText,
  Weight: isNumber,
  Shipper: isText,
  EntryStaff: isText,
  EntryDate: matches(DAY),
  EntryDateTime: matches(MOMENT),
  Branch: isText,
  Claimed: isFlag,
  APIToken: isText,
  ShowControls: isFlag,
  ManifestCode: isText,
  CollectionCode: isText,
  Description: isText,
  HSCode: isText,
  Unknown: isFlag,
  AIProcessed: isFlag,
  OriginalHouseNumber: isText,
  Cubes: isNumber,
  Length: isNumber,
  Width: isNumber,
  Height: isNumber,
  Pieces: (value) => Number.isInteger(value) && isNumber(value),
  Discrepancy: isFlag,
  DiscrepancyDescription: isText,
  ServiceTypeID: isUuidOrEmpty,
  HazmatCodeID: isUuidOrEmpty,
  Coloaded: isFlag,
  ColoadIndicator: isText,
  PackageStatus: (value) => [0, 1, 2, 3, 4].some((status) => status === value),
  PackagePayments: isText,
};

export const FLAT_FIELDS = Object.keys(FIELDS);

type FlatBody = Record<string, string | number | boolean>;
export type RegionRequest = {
  path: string;
  headers: IncomingMessage['headers'];
  text: string;
  body: FlatBody;
};

export type RegionReceiver = {
  url: string;
  /** All requests that it could read, oldest first. */
  requests: RegionRequest[];
  /** The stored packages by PackageID, as last received. */
  packages: Map<string, FlatBody>;
  /** The number of responses per status. `lost` is a request that was stored and never answered. */
  responses: Record<string, number>;
  /** Everything that was wrong with a request. */
  faults: string[];
  /** User codes that it does not know. */
  unknownCodes: Set<string>;
  /** Stops listening, as a restart does. */
  close(): Promise<void>;
  /** Listens again at the same port. */
  open(): Promise<void>;
};

export type RegionOptions = {
  token: string;
  /** Every n-th request fails with 500; every n-th is stored and not answered. Never by default. */
  failEvery?: number;
  loseEvery?: number;
};

/** Starts a receiver with the addresses `/add` and `/update`. */
export async function startRegionReceiver(options: RegionOptions): Promise<RegionReceiver> {
  let server: Server | undefined;
  let port = 0;
  const receiver: RegionReceiver = {
    url: '',
    requests: [],
    packages: new Map(),
    responses: {},
    faults: [],
    unknownCodes: new Set(),
    async open() {
      const opened = createServer((request, response) => {
        // A request that a restart cut off ends with an error.
        take(receiver, options, request, response).catch(() => response.destroy());
      });
      await new Promise<void>((resolve) => opened.listen(port, '127.0.0.1', resolve));
      // A server that listens on TCP has this kind of address.
      ({ port } = opened.address() as AddressInfo);
      receiver.url = `http://127.0.0.1:${port}`;
      server = opened;
    },
    async close() {
      const closing = server;
      server = undefined;
      closing?.closeAllConnections();
      await new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)));
    },
  };
  await receiver.open();
  return receiver;
}

async function take(
  receiver: RegionReceiver,
  options: RegionOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  // A request without an encoding yields buffers.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = handle(receiver, options, request, Buffer.concat(chunks).toString());
  const kind = answer?.status ?? 'lost';
  receiver.responses[kind] = (receiver.responses[kind] ?? 0) + 1;
  if (answer) response.writeHead(answer.status).end(answer.message);
  else response.destroy();
}

/** Stores the package. Returns undefined for a request whose response gets lost. */
function handle(
  receiver: RegionReceiver,
  { token, failEvery = Infinity, loseEvery = Infinity }: RegionOptions,
  { url: path = '', headers }: IncomingMessage,
  text: string,
): { status: number; message: string } | undefined {
  // The fields are verified next.
  const body = JSON.parse(text) as FlatBody;
  const faults = [...findFaults(body), ...findTokenFaults(body, headers, token)];
  receiver.faults.push(...faults);
  if (faults.length > 0) return { status: 400, message: faults.join(' ') };
  const number = receiver.requests.push({ path, headers, text, body });
  if (number % failEvery === 0) return { status: 500, message: 'Try again.' };
  if (receiver.unknownCodes.has(String(body['UserCode'])))
    return { status: 404, message: 'Unknown customer.' };
  const id = String(body['PackageID']);
  const isKnown = receiver.packages.has(id);
  receiver.packages.set(id, body);
  if (number % loseEvery === 0) return undefined;
  if (path.startsWith('/update')) return { status: 200, message: 'Updated.' };
  return isKnown ? { status: 409, message: 'It already exists.' } : { status: 201, message: 'Created.' };
}

/** Every field must be present with the right type, in any order, and there is no other. */
function findFaults(body: unknown): string[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return ['The body is not an object.'];
  const values = new Map<string, unknown>(Object.entries(body));
  const wrong = Object.entries(FIELDS).filter(([name, isRight]) => !isRight(values.get(name)));
  const extra = [...values.keys()].filter((name) => !(name in FIELDS));
  return [
    ...wrong.map(([name]) => `${name} is ${JSON.stringify(values.get(name))}.`),
    ...extra.map((name) => `${name} is not a field.`),
  ];
}

/** Receivers look for the token in different places, so it must be right in each of them. */
function findTokenFaults(body: FlatBody, headers: RegionRequest['headers'], token: string): string[] {
  const places = {
    APIToken: body['APIToken'],
    'X-API-Key': headers['x-api-key'],
    Authorization: headers.authorization?.replace(/^Bearer /, ''),
  };
  return Object.entries(places).flatMap(([place, value]) =>
    value === token ? [] : [`Wrong token in ${place}.`],
  );
}
