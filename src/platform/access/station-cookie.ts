import type { FastifyReply, FastifyRequest } from 'fastify';
import { readCookie, sendCookie } from './cookies.js';
import { comesFromOwnPage } from './session-cookie.js';

// Names the browser of a station, in which workers change with a PIN (decision 0137). It is no credential without a PIN.

const NAME = 'crossdock-station';

/** The time in which a worker who has logged in with the password may change with a PIN: a shift, and some. */
export const STATION_SECONDS = 12 * 60 * 60;

/** Returns the text that names the station, or undefined for another browser, and for a request of a page of another origin. */
export const readStationCookie = (request: FastifyRequest): string | undefined =>
  comesFromOwnPage(request) ? readCookie(request, NAME) : undefined;

export const sendStationCookie = (reply: FastifyReply, station: string): void =>
  sendCookie(reply, NAME, station, { maxAge: STATION_SECONDS });
