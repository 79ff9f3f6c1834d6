/**
 * What happens to a column:
 *
 * - keep: an id, a number, a time or a flag, which says nothing about a person by itself
 * - code: kept if it has a format of our own, such as a status; otherwise replaced like text
 * - chain, terms: computed again from the replaced values
 * - secret: a new secret, encrypted with the keys of this deployment
 * - the others: the replacement of that name
 */
export type Decision =
  | 'keep'
  | 'code'
  | 'text'
  | 'lowerText'
  | 'knownName'
  | 'packageType'
  | 'email'
  | 'url'
  | 'network'
  | 'networks'
  | 'hash'
  | 'houseNumber'
  | 'manifestNumber'
  | 'awbNumber'
  | 'json'
  | 'host'
  | 'logo'
  | 'password'
  | 'secret'
  | 'chain'
  | 'terms';

type Table = Partial<Record<Decision, string>>;

/** Every column of every table. The columns of one decision are separated by spaces. */
const INVENTORY: Record<string, Table> = {
  'public.tenants': {
    keep: 'id created_at sandbox_of_tenant_id sandbox_of_courier_id',
    lowerText: 'slug',
    text: 'name',
  },
  'public.tenant_hosts': { keep: 'tenant_id', host: 'host' },
  'public.users': {
    keep: 'tenant_id id courier_id is_courier_owner is_active token_version two_factor_enabled totp_last_step created_at updated_at must_change_password password_expires_at totp_pending_expires_at',
    code: 'role',
    lowerText: 'username',
    text: 'full_name',
    email: 'email',
    password: 'password_hash',
    hash: 'pin_hash',
    secret: 'totp_secret totp_pending_secret',
  },
  'public.backup_codes': { keep: 'tenant_id id user_id used_at', hash: 'code_hash' },
  'public.preauth_tokens': { keep: 'tenant_id user_id expires_at consumed_at', hash: 'token_hash' },
  'public.sessions': {
    keep: 'tenant_id id user_id created_at last_seen_at expires_at ended_at',
    code: 'started_by end_reason',
    network: 'address',
    text: 'user_agent',
  },
  'public.station_workers': {
    keep: 'tenant_id id user_id token_version failures remembered_at expires_at',
    hash: 'device_hash',
  },
  'public.service_tokens': {
    keep: 'tenant_id id courier_id scopes previous_ends_at rotated_at expires_at created_by created_at last_used_at revoked_at',
    text: 'name hint previous_hint',
    networks: 'addresses',
    network: 'last_used_address',
    hash: 'token_hash previous_hash',
    secret: 'digest_cipher previous_digest_cipher',
  },
  'public.feeds': {
    keep: 'tenant_id id courier_id customer_id is_active previous_ends_at created_by created_at rotated_at last_received_at',
    code: 'kind',
    text: 'name hint previous_hint',
    secret: 'secret_cipher previous_cipher',
  },
  'public.tracking_settings': {
    keep: 'tenant_id courier_id is_enabled is_search_enabled shows_amount_due currency time_zone transit_days updated_at',
    text: 'note_en note_es',
  },
  'public.tracking_links': {
    keep: 'tenant_id id courier_id package_id customer_id amount_due created_at',
    text: 'user_code',
    hash: 'key_hash',
    secret: 'key_cipher',
  },
  'public.notice_settings': {
    keep: 'tenant_id courier_id is_enabled sends_mail states quiet_from quiet_to time_zone last_sequence told_since updated_at',
    code: 'language',
    email: 'reply_to',
    text: 'signature',
  },
  'public.notices': {
    keep: 'tenant_id id courier_id customer_id package_id sequence due_at mail_id created_at settled_at',
    code: 'state status reason',
    text: 'tracking_number',
  },
  'public.notice_mails': {
    keep: 'tenant_id id courier_id customer_id attempt_count created_at settled_at',
    code: 'language status',
    email: 'recipient',
    hash: 'address_key key_hash',
    text: 'last_error',
  },
  'public.notice_choices': { keep: 'tenant_id courier_id is_opted_out changed_at', hash: 'address_key' },
  'public.feed_events': { keep: 'tenant_id feed_id courier_id received_at', hash: 'event_key' },
  'public.feed_refusals': {
    keep: 'tenant_id id feed_id courier_id refused_at',
    hash: 'refusal_key',
    code: 'reason',
    text: 'reference tracking_number',
  },
  'public.carrier_states': {
    keep: 'tenant_id courier_id is_action_needed occurred_at settled_at updated_at',
    code: 'status',
    text: 'tracking_key carrier corrected_carrier code remark',
  },
  'public.known_networks': { keep: 'tenant_id user_id last_seen_at', network: 'network' },
  'public.user_preferences': {
    keep: 'tenant_id user_id updated_at',
    code: 'language theme',
    json: 'views columns',
  },
  'public.tenant_settings': { keep: 'tenant_id time_zone currency missing_after_hours updated_at' },
  'public.security_settings': { keep: 'tenant_id require_two_factor idle_timeout_minutes updated_at' },
  'public.account_mails': {
    keep: 'tenant_id id user_id courier_id attempt_count created_at settled_at',
    code: 'kind status endpoint',
    network: 'address',
    email: 'recipient',
    text: 'user_agent last_error',
    secret: 'secret_cipher',
  },
  'public.bill_mails': {
    keep: 'tenant_id id bill_id courier_id attempt_count requested_by created_at settled_at',
    code: 'language status',
    email: 'recipient',
    text: 'last_error',
  },
  'public.password_resets': {
    keep: 'tenant_id id requested_at user_id token_version expires_at consumed_at',
    lowerText: 'username',
    email: 'recipient',
    hash: 'token_hash',
  },
  'public.login_throttles': {
    keep: 'tenant_id failures locked_until updated_at',
    code: 'kind',
    lowerText: 'subject',
  },
  'public.couriers': {
    keep: 'tenant_id id is_active webhook_secret_rotated_at air_freight_rate urls_of_tokens add_package_events update_package_events created_at updated_at',
    code: 'add_package_format update_package_format house_color',
    text: 'code name company_name phone_number1 phone_number2 address1 address2 city_town parish_province',
    email: 'email',
    url: 'api_url_get_customers api_url_add_package api_url_update_package',
    secret:
      'api_key_hash api_key_cipher api_token_cipher webhook_secret_cipher webhook_previous_secret_cipher',
  },
  'public.courier_logos': {
    keep: 'tenant_id courier_id stored_at raster_failed_at',
    logo: 'content content_hash media_type raster',
  },
  'public.customers': {
    keep: 'tenant_id id courier_id is_active created_at updated_at',
    text: 'user_code first_name last_name branch',
    email: 'email',
  },
  'public.customer_tallies': { keep: 'tenant_id courier_id slot total', text: 'branch' },
  'public.customer_terms': { terms: 'tenant_id id scope_id term keys' },
  'public.courier_quotas': { keep: 'tenant_id courier_id period_start used', code: 'kind' },
  'public.principal_quotas': {
    keep: 'tenant_id principal_id courier_id period_start used',
    code: 'principal_kind kind',
  },
  'public.write_allowances': {
    keep: 'tenant_id principal_id courier_id used settled_at',
    code: 'principal_kind',
  },
  'public.carriers': { keep: 'tenant_id id', knownName: 'name' },
  'public.airlines': { keep: 'tenant_id', code: 'prefix', knownName: 'name' },
  'public.warehouses': {
    keep: 'tenant_id id is_primary loading_gate weight_question_lb created_at',
    text: 'name address city country phone',
    email: 'email',
  },
  'public.prealerts': {
    keep: 'tenant_id id courier_id created_at updated_at closed_at missing_at',
    code: 'status',
    text: 'user_code tracking_number tracking_key announced_key vendor description reference',
  },
  'public.parcel_claims': {
    keep: 'tenant_id id courier_id customer_id package_id submitted_by created_at decided_by decided_at',
    code: 'status',
    text: 'user_code tracking_number tracking_key reason',
  },
  'public.claim_documents': {
    keep: 'tenant_id id claim_id courier_id submitted_by created_at',
    logo: 'content media_type',
    hash: 'content_hash',
  },
  'public.prealert_flags': { keep: 'tenant_id courier_id kept_at', text: 'tracking_key' },
  'public.prealert_renames': {
    keep: 'tenant_id courier_id customer_id renamed_at',
    text: 'user_code new_user_code',
  },
  'public.prealert_tallies': { keep: 'tenant_id courier_id slot total', code: 'status' },
  'public.packages': {
    keep: 'tenant_id id courier_id weight_lb length_in width_in height_in carrier_id warehouse_id manifest_id prealert_id claimed_by received_at updated_at',
    code: 'status',
    text: 'user_code first_name last_name tracking_number tracking_key shipper description',
    houseNumber: 'house_number',
    packageType: 'package_type',
  },
  'public.package_weights': { keep: 'tenant_id package_id received_weight_lb' },
  'public.package_tallies': { keep: 'tenant_id courier_id slot total weight_lb' },
  'public.package_syncs': {
    keep: 'tenant_id package_id courier_id job_id dispatch_id requested_at settled_at',
    code: 'status',
    text: 'traceparent',
  },
  'public.package_events': {
    keep: 'tenant_id id package_id courier_id actor_user_id occurred_at recorded_at place previous_weight_lb weight_lb',
    code: 'previous_status status source',
    text: 'location remarks',
  },
  'public.label_jobs': {
    keep: 'tenant_id id print_id package_id copies claim_id lease_until reprint_of requested_by created_at expires_at ended_at',
    code: 'status',
    text: 'station reason',
  },
  'public.label_bridges': { keep: 'tenant_id seen_at', text: 'station' },
  'public.manifests': {
    keep: 'tenant_id id flight_date warehouse_id created_at updated_at overridden_at overridden_by override_missing override_extra',
    code: 'status airline_prefix loading_gate',
    manifestNumber: 'manifest_number',
    awbNumber: 'awb_number',
    text: 'flight_number notes override_reason',
  },
  'public.scans': {
    keep: 'tenant_id id scanned_at arrived_at user_id manifest_id is_admitted event_id voided_at',
    code: 'kind outcome reason',
    text: 'station scan parcel_key',
    json: 'details',
    hash: 'content_hash',
  },
  'public.parcel_positions': {
    keep: 'tenant_id manifest_id loaded_at updated_at',
    text: 'parcel_key scan location station',
  },
  'public.payment_terms': { keep: 'tenant_id id courier_id days updated_at' },
  'public.rate_tiers': { keep: 'tenant_id id courier_id start_weight_lb end_weight_lb fee_usd' },
  'public.bills': {
    keep: 'tenant_id id sequence_number courier_id start_date end_date total_packages tax_rate subtotal tax_amount total_amount paid_amount created_at published_at due_date overdue_at',
    code: 'status invoice_number',
    text: 'service_type remarks',
    json: 'bill_from bill_to',
  },
  'public.bill_lines': {
    keep: 'tenant_id id bill_id courier_id position package_id received_at weight_lb rate_usd amount_usd',
    code: 'kind tier',
    houseNumber: 'house_number',
    text: 'description tracking_number user_code',
  },
  'public.bill_payments': {
    keep: 'tenant_id id bill_id courier_id amount_usd received_on recorded_at voided_at',
    code: 'method',
    text: 'reference void_reason',
  },
  'public.bill_counters': { keep: 'tenant_id last_number' },
  'public.audit_entries': {
    keep: 'tenant_id id at actor_id entity_id',
    code: 'actor_kind action entity request_id',
    json: 'before after',
    text: 'remarks',
  },
  'public.audit_links': { keep: 'tenant_id sequence entry_id', chain: 'hash' },
  'public.audit_unsealed': { keep: 'tenant_id at entry_id' },
  'public.event_counters': { keep: 'tenant_id courier_id last_sequence' },
  'public.events': {
    keep: 'tenant_id id courier_id sequence package_id occurred_at',
    code: 'type',
    json: 'data',
  },
  'public.webhook_deliveries': {
    keep: 'tenant_id id event_id courier_id attempt_count next_attempt_at claimed_until last_http_status sync_job_id created_at settled_at',
    code: 'endpoint origin status',
    text: 'traceparent',
  },
  'public.webhook_attempts': {
    keep: 'tenant_id delivery_id number courier_id started_at duration_ms http_status',
    code: 'outcome',
    text: 'response_start error',
  },
  'public.webhook_exchanges': {
    keep: 'tenant_id delivery_id number courier_id request_bytes response_is_cut response_headers_are_cut expires_at',
    json: 'request_headers response_headers',
    text: 'url request_body response_body',
  },
  'public.webhook_endpoints': {
    keep: 'tenant_id courier_id failing_since failures last_success_at last_failure_at last_failure_status paused_at told_since',
    code: 'endpoint last_failure_outcome told_stage',
    text: 'last_failure_error',
  },
  'public.dispatches': { keep: 'tenant_id id courier_id requested_by selected queued requested_at' },
  'public.manifest_mails': {
    keep: 'tenant_id id courier_id manifest_id attempt_count created_at settled_at',
    code: 'manifest_status status',
    manifestNumber: 'manifest_number',
    email: 'recipient',
    text: 'last_error',
  },
  'public.customer_sync_runs': {
    keep: 'tenant_id id courier_id requested_by http_status received created updated unchanged skipped created_at started_at finished_at',
    code: 'origin status',
    json: 'problems',
    text: 'error',
  },
  'public.integration_checks': {
    keep: 'tenant_id id courier_id requested_by created_at started_at finished_at',
    code: 'endpoint status format',
    json: 'findings requests',
    text: 'url error',
  },
  'public.sandbox_clocks': { keep: 'tenant_id courier_id speed sandbox_time anchored_at' },
  'public.sandbox_lives': {
    keep:
      'tenant_id id courier_id prealert_id package_id manifest_id bill_id steps_played started_at next_due_at attempts ' +
      'created_at updated_at',
    code: 'life state refused_code',
    text: 'tracking_number refused_message',
  },
  'public.sandboxes': {
    keep: 'tenant_id id courier_id sandbox_courier_id created_by created_at ended_by ended_at',
    lowerText: 'path_key',
  },
  'public.api_calls': {
    keep: 'tenant_id request_id courier_id called_at status duration_ms credential_id is_replayed expires_at',
    code: 'operation_id code credential',
    json: 'refused',
    text: 'credential_hint',
  },
  'public.api_call_parcels': { keep: 'tenant_id request_id courier_id', text: 'parcel_key' },
  'public.idempotency_keys': {
    keep: 'tenant_id id courier_id principal_id created_at',
    code: 'principal_kind operation_id',
    hash: 'key_hash request_hash',
    secret: 'answer_cipher',
  },
  'public._prisma_migrations': {
    keep: 'finished_at rolled_back_at started_at applied_steps_count',
    code: 'id checksum migration_name',
    text: 'logs',
  },
  // The names and keys of the deployments that used the database. Its rows are deleted.
  'installation.deployments': {
    text: 'name version',
    code: 'app_env',
    json: 'fingerprints',
    keep: 'first_seen_at seen_at',
  },
  // Its rows are deleted.
  'installation.processes': { keep: 'id encryption_keys started_at seen_at', text: 'name' },
  'installation.outbound': { keep: 'id paused_at', text: 'server paused_because' },
  'installation.background_migrations': {
    keep: 'tenant_id rows_done rows_total batch_rows findings created_at updated_at finished_at',
    code: 'name status last_key',
    text: 'last_error',
  },
  'installation.tenant_cells': { keep: 'tenant_id changed_at', code: 'state role', text: 'other_cell' },
  'installation.tenant_markers': { keep: 'tenant_id marker' },
  'queue.worker_pools': { keep: 'seen_at', code: 'id' },
  'graphile_worker._private_jobs': {
    keep: 'id job_queue_id task_id priority run_at attempts max_attempts created_at updated_at locked_at revision is_available',
    json: 'payload flags',
    code: 'key locked_by',
    text: 'last_error',
  },
  'graphile_worker._private_job_queues': { keep: 'id locked_at is_available', code: 'queue_name locked_by' },
  'graphile_worker._private_known_crontabs': { keep: 'known_since last_execution', code: 'identifier' },
  'graphile_worker._private_tasks': { keep: 'id', code: 'identifier' },
  'graphile_worker.migrations': { keep: 'id ts breaking' },
};

/** The decision of each column, by table and column. */
export const COLUMNS: Record<string, Record<string, Decision>> = Object.fromEntries(
  Object.entries(INVENTORY).map(([table, decisions]) => [
    table,
    Object.fromEntries(
      Object.entries(decisions).flatMap(([decision, columns]) =>
        // The keys of a Table are decisions.
        columns.split(' ').map((column) => [column, decision as Decision]),
      ),
    ),
  ]),
);
