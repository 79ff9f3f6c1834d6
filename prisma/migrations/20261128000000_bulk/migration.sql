-- The packages that were billed to a courier in a period, for its reconciliation (docs/decisions/0025).
-- CreateIndex
CREATE INDEX "bill_lines_tenant_id_courier_id_received_at_idx" ON "bill_lines"("tenant_id", "courier_id", "received_at");

-- Room for new versions of a row on its page. A change of the status then writes no index entry (docs/decisions/0046).
alter table packages set (fillfactor = 70);
