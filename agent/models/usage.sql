-- Tokens and costs, counted per server and day.

-- name: add_usage
-- Add one turn's usage to its server's day.
INSERT INTO usage_counters (server_id, day, model, requests, input_tokens, output_tokens, cost_micros)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (server_id, day, model) DO UPDATE SET
    requests = usage_counters.requests + excluded.requests,
    input_tokens = usage_counters.input_tokens + excluded.input_tokens,
    output_tokens = usage_counters.output_tokens + excluded.output_tokens,
    cost_micros = usage_counters.cost_micros + excluded.cost_micros

-- name: spent_micros
-- What a server has cost on one day, over all models.
SELECT coalesce(sum(cost_micros), 0)::bigint FROM usage_counters WHERE server_id = $1 AND day = $2

-- name: usage_by_model
-- What a server has used since a day, by model.
SELECT model, sum(requests)::bigint AS requests, sum(input_tokens)::bigint AS input_tokens,
    sum(output_tokens)::bigint AS output_tokens, sum(cost_micros)::bigint AS cost_micros
FROM usage_counters
WHERE server_id = $1 AND day >= $2
GROUP BY model
ORDER BY model
