import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';

const { IEX, HRB } = DEMO.couriers;
const { admin, guarded, manager } = DEMO.users;

// A row for each table, and a value for each column, of which the demo data and a load have none. `$1` is the demo tenant.
const ROWS = [
  `insert into account_mails (tenant_id, id, user_id, kind, recipient, address, user_agent, secret_cipher, last_error)
   values ($1, new_id(), '${admin}', 'password_reset_link', 'a@b.example', '198.51.100.4', 'Browser', 'v1.x', 'none')`,
  `insert into password_resets (tenant_id, id, username, user_id, token_hash, token_version, recipient, expires_at)
   values ($1, new_id(), 'admin', '${admin}', 'hash', 1, 'a@b.example', now() + interval '1 hour')`,
  `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
   values ($1, 'hash', '${guarded}', now() + interval '1 minute')`,
  `update users set pin_hash = 'hash' where tenant_id = $1 and id = '${guarded}'`,
  `insert into station_workers (tenant_id, id, device_hash, user_id, token_version, expires_at)
   values ($1, new_id(), 'station', '${guarded}', 1, now() + interval '12 hours')`,
  `insert into idempotency_keys (tenant_id, id, principal_kind, principal_id, key_hash, request_hash, operation_id, answer_cipher)
   values ($1, new_id(), 'user', '${admin}', 'key', 'request', 'submitPrealert', 'v1.x')`,
  `insert into prealert_flags (tenant_id, courier_id, tracking_key) values ($1, '${IEX}', 'FLAGGED1')`,
  `insert into prealert_renames (tenant_id, courier_id, user_code, customer_id, new_user_code) values ($1, '${IEX}', 'Marcia Campbell', new_id(), 'Marcia Smith')`,
  `insert into package_weights (tenant_id, package_id, received_weight_lb)
   select tenant_id, id, weight_lb from packages where tenant_id = $1 order by id limit 1`,
  `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
    values ($1, 'courier', '${IEX}', '${IEX}', 'stored_bytes', now(), 1)`,
  `insert into write_allowances (tenant_id, principal_kind, principal_id, courier_id, used, settled_at)
    values ($1, 'courier', '${IEX}', '${IEX}', 1, now())`,
  `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used) values ($1, '${IEX}', 'customer_changes', now(), 1)`,
  `update couriers set webhook_secret_cipher = 'v1.x', webhook_previous_secret_cipher = 'v1.y', webhook_secret_rotated_at = now()
   where tenant_id = $1 and id = '${HRB}'`,
  `update users set totp_pending_secret = 'v1.x', totp_pending_expires_at = now() where tenant_id = $1 and id = '${manager}'`,
  `insert into bill_payments (tenant_id, id, bill_id, courier_id, amount_usd, method, received_on, voided_at, void_reason)
   select tenant_id, new_id(), bill_id, courier_id, amount_usd, method, received_on, now(), 'wrong' from bill_payments
   where tenant_id = $1 limit 1`,
  `insert into label_jobs (tenant_id, id, print_id, station, package_id, copies, status, claim_id, lease_until, reason, reprint_of,
     requested_by, ended_at)
   select tenant_id, new_id(), new_id(), 'belt-1', id, 1, 'failed', new_id(), now(), 'out of paper', new_id(), '${admin}', now()
   from packages where tenant_id = $1 order by id limit 1`,
  `insert into label_bridges (tenant_id, station, seen_at) values ($1, 'Printer of Marcia Campbell', now())`,
  `insert into scans (tenant_id, id, station, kind, scanned_at, user_id, scan, parcel_key, details, content_hash, manifest_id, event_id,
     outcome, reason)
   select $1, new_id(), 'Dock of Marcia Campbell', 'load', now(), '${admin}', 'SCANNED1', 'SCANNED1', '{"remarks": "For Marcia Campbell"}',
     'hash', id, new_id(), 'conflict', 'not_received' from manifests where tenant_id = $1 limit 1`,
  `insert into parcel_positions (tenant_id, parcel_key, scan, location, manifest_id, loaded_at, station)
   select $1, 'SCANNED1', 'SCANNED1', 'Shelf of Marcia Campbell', id, now(), 'Dock 1' from manifests where tenant_id = $1 limit 1`,
  `update manifests set override_reason = 'Marcia Campbell waits', overridden_at = now(), overridden_by = '${admin}',
     override_missing = 1, override_extra = 0 where tenant_id = $1`,
  `insert into service_tokens (tenant_id, id, courier_id, name, scopes, addresses, token_hash, digest_cipher, hint, previous_hash,
     previous_digest_cipher, previous_hint, previous_ends_at, rotated_at, expires_at, created_by, last_used_at, last_used_address, revoked_at)
   values ($1, new_id(), '${IEX}', 'Shop of Marcia Campbell', '{packages:read}', '{192.0.2.128/25,2001:db8:77::/48}', 'hash', 'v1.x', 'abc123',
     'previous', 'v1.y', 'def456', now(), now(), now() + interval '1 year', '${admin}', now(), '192.0.2.129', now())`,
  `insert into feeds (tenant_id, id, courier_id, kind, name, is_active, secret_cipher, hint, previous_cipher, previous_hint, previous_ends_at,
     created_by, rotated_at, last_received_at)
   values ($1, new_id(), '${IEX}', 'easypost', 'Shop of Marcia Campbell', false, 'v1.x', 'abcd', 'v1.y', 'efgh', now(), '${admin}', now(), now())`,
  `insert into feed_events (tenant_id, feed_id, event_key, courier_id)
   select tenant_id, id, 'evt_marcia', courier_id from feeds where tenant_id = $1`,
  `insert into feeds (tenant_id, id, courier_id, customer_id, kind, name, secret_cipher, hint, created_by)
   select tenant_id, new_id(), courier_id, id, 'shopify', 'Books of Marcia Campbell', 'v1.x', 'abcd', '${admin}' from customers
   where tenant_id = $1 and courier_id = '${IEX}' limit 1`,
  `insert into feed_refusals (tenant_id, id, feed_id, courier_id, refusal_key, reference, tracking_number, reason)
   select tenant_id, new_id(), id, courier_id, repeat('0', 64), '#1001', 'REFUSED1', 'no_user_code' from feeds where tenant_id = $1 limit 1`,
  `insert into carrier_states (tenant_id, courier_id, tracking_key, status, carrier, corrected_carrier, code, remark, is_action_needed,
     occurred_at, settled_at)
   values ($1, '${IEX}', 'HEARD1', 'problem', 'UPS', 'FedEx', 'refused', 'Marcia Campbell was not at home', true, now(), now())`,
  `insert into tracking_settings (tenant_id, courier_id, is_enabled, is_search_enabled, shows_amount_due, currency, time_zone, transit_days, note_en, note_es)
   values ($1, '${IEX}', true, true, true, 'CRC', 'America/Costa_Rica', 3, 'Ask for Marcia Campbell', 'Pregunte por Marcia Campbell')`,
  `insert into tracking_links (tenant_id, id, courier_id, package_id, customer_id, user_code, key_hash, key_cipher, amount_due)
   select p.tenant_id, new_id(), p.courier_id, p.id, u.id, p.user_code, repeat('0', 64), 'v1.x', 18.5
   from packages p join customers u on u.tenant_id = p.tenant_id and u.courier_id = p.courier_id and u.user_code = p.user_code
   where p.tenant_id = $1 and p.courier_id = '${IEX}' order by p.id limit 1`,
  `insert into notice_settings (tenant_id, courier_id, is_enabled, states, language, quiet_from, quiet_to, time_zone, reply_to, signature)
   values ($1, '${IEX}', true, '{received}', 'es', '21:00', '07:30', 'America/Costa_Rica', 'marcia@campbell.example', 'Ask for Marcia Campbell')`,
  `insert into notice_mails (tenant_id, id, courier_id, customer_id, recipient, address_key, language, key_hash, status, last_error, settled_at)
   select tenant_id, new_id(), courier_id, id, 'marcia@campbell.example', repeat('1', 64), 'es', repeat('2', 64), 'failed',
     'marcia@campbell.example is unknown', now() from customers where tenant_id = $1 and courier_id = '${IEX}' order by id limit 1`,
  `insert into notices (tenant_id, id, courier_id, customer_id, package_id, tracking_number, state, sequence, status, reason, due_at, mail_id, settled_at)
   select tenant_id, new_id(), courier_id, customer_id, new_id(), 'TOLD' || made.state, made.state, 1, made.status, made.reason,
     case when made.status = 'held' then now() end, case when made.status = 'told' then id end, now() from notice_mails,
     (values ('received', 'told', null), ('shipped', 'held', null), ('delivered', 'cancelled', 'too_late')) as made (state, status, reason)
   where tenant_id = $1`,
  `insert into notice_choices (tenant_id, courier_id, address_key, is_opted_out) values ($1, '${IEX}', repeat('1', 64), true)`,
  `insert into parcel_claims (tenant_id, id, courier_id, customer_id, user_code, tracking_number, tracking_key, status, reason, package_id,
     submitted_by, decided_by, decided_at)
   select tenant_id, new_id(), courier_id, id, user_code, 'CLAIMED1', 'CLAIMED1', 'approved', 'The label names Marcia Campbell', new_id(),
     '${admin}', '${admin}', now() from customers where tenant_id = $1 and courier_id = '${IEX}' order by id limit 1`,
  `insert into claim_documents (tenant_id, id, claim_id, courier_id, media_type, content_hash, content, submitted_by)
   select tenant_id, new_id(), id, courier_id, 'application/pdf', encode(sha256('Marcia'), 'hex'), '%PDF-1.7 Invoice of Marcia Campbell %%EOF',
     '${admin}' from parcel_claims where tenant_id = $1 order by id limit 1`,
  `update prealerts set closed_at = now(), missing_at = now() where tenant_id = $1`,
  `insert into bill_mails (tenant_id, id, bill_id, courier_id, recipient, language, last_error, requested_by)
   select tenant_id, new_id(), id, courier_id, 'a@b.example', 'es', 'none', '${admin}' from bills
   where tenant_id = $1 and status <> 'draft' order by id limit 1`,
  `insert into webhook_exchanges (tenant_id, delivery_id, number, courier_id, url, request_headers, request_body, request_bytes,
     response_headers, response_body, expires_at)
   select tenant_id, id, 1, courier_id, 'https://marcia.example/hooks', '{"x-of": "Marcia Campbell"}', '{"name": "Marcia Campbell"}', 26,
     '{"x-of": "Marcia Campbell"}', 'Marcia Campbell is unknown', now() + interval '1 day'
   from webhook_deliveries where $1::uuid is not null order by id limit 1`,
  `insert into integration_checks (tenant_id, id, courier_id, endpoint, requested_by, status, url, format, findings, requests, error,
     started_at, finished_at)
   values ($1, new_id(), '${IEX}', 'add_package', '${admin}', 'failed', 'https://marcia.example/hooks', 'event',
     '[{"code": "refused", "evidence": {"response_start": "Marcia Campbell is unknown"}}]', '[{"error": "Marcia Campbell"}]',
     'Marcia Campbell', now(), now())`,
  `insert into sandbox_clocks (tenant_id, courier_id, speed, sandbox_time) values ($1, '${IEX}', 60, now())`,
  `insert into sandbox_lives (tenant_id, id, courier_id, life, tracking_number, prealert_id, package_id, manifest_id, bill_id, state,
     started_at, next_due_at, refused_code, refused_message)
   values ($1, new_id(), '${IEX}', 'happy', 'LIFE-HAPPY-1', null, null, null, null, 'playing', now(), now(), null, null),
     ($1, new_id(), '${IEX}', 'happy', 'LIFE-HAPPY-2', new_id(), new_id(), new_id(), new_id(), 'refused', now(), null,
       'prealert_not_found', 'Nobody has announced LIFE-HAPPY-2')`,
  `insert into sandboxes (tenant_id, id, courier_id, path_key, sandbox_courier_id, created_by)
   values ($1, new_id(), '${IEX}', 'marciacampbell000000', new_id(), '${admin}')`,
  `insert into api_calls (tenant_id, request_id, courier_id, called_at, operation_id, status, code, duration_ms, credential, credential_hint,
     expires_at)
   values ($1, '01930a3e-7c1d-7e11-9c5a-2f4b8d6e14aa', '${IEX}', now(), 'submitPrealert', 409, 'duplicate_tracking_number', 12, 'api_key',
     'f31c2a', now() + interval '1 day')`,
  `insert into api_call_parcels (tenant_id, request_id, parcel_key, courier_id)
   values ($1, '01930a3e-7c1d-7e11-9c5a-2f4b8d6e14aa', 'MARCIA1CAMPBELL', '${IEX}')`,
  `insert into payment_terms (tenant_id, id, courier_id, days) values ($1, new_id(), '${IEX}', 14)`,
  `insert into user_preferences (tenant_id, user_id, language, views, columns, updated_at)
   values ($1, '${admin}', 'es', '[{"list": "customers", "name": "Marcia", "query": "search=Marcia+Campbell"}]',
     '[{"list": "customers", "columns": ["code", "firstName"]}]', now())`,
  `insert into tenant_settings (tenant_id, time_zone, currency) values ($1, 'America/New_York', 'USD')`,
  `insert into security_settings (tenant_id, require_two_factor) values ($1, '{manager}')`,
];

const ROWS_WITHOUT_TENANT = [
  `insert into installation.deployments (name, app_env, fingerprints, version)
   values ('crossdock-production', 'production', '{"LOOKUP_KEY": ["0123456789abcdef"]}', '1.0.0')`,
  `insert into installation.processes (id, name, encryption_keys) values (gen_random_uuid(), 'worker host pid 1', '{0123456789abcdef}')`,
  `insert into installation.background_migrations (name, status, rows_total) values ('20261203010000_background', 'finished', 0)`,
  `update installation.outbound set server = '1/00000001', paused_at = now(), paused_because = 'Somebody looks into it.'`,
  `insert into installation.tenant_cells (tenant_id, state, role, other_cell) values (gen_random_uuid(), 'gone', 'source', 'cell-b')`,
  `insert into queue.worker_pools (id, seen_at) values ('pool-old', now() - interval '1 day')`,
  `select graphile_worker.add_job('sendManifestMail', '{"tenantId": "${DEMO.tenants.demo}", "note": "x"}', job_key := 'key-1',
     queue_name := 'queue-1', run_at := now() + interval '1 day', flags := array['a'])`,
  `insert into graphile_worker._private_known_crontabs (identifier, known_since) values ('old', now())`,
];

/** Adds the rows and values that the demo data and a load do not have. */
export async function fillEmptyTables(owner: pg.Client): Promise<void> {
  for (const text of ROWS) await owner.query(text, [DEMO.tenants.demo]);
  for (const text of ROWS_WITHOUT_TENANT) await owner.query(text);
}
