-- Good answers whose body gave no list of rows: their whole lines are quarantined.
select raw.request_id, to_json(raw)::varchar as line
from (select * exclude (has_shape, dated_at) from raw) as raw
left join answers on raw.request_id = answers.request_id
where raw.outcome = 'ok' and raw.api_version = 1 and answers.n_rows is null
order by raw.request_id
