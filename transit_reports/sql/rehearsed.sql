-- Whether requests of the period went to an emulator in a rehearsal, and when the last answer came.
select
    count_if(requests."window" like '%-rehearsal') as n_rehearsed,
    count(requests.request_id) as n_requests,
    max(requests.received_at) as last_received_at,
    any_value(publication.last_received_at) as last_answer_at,
    any_value(epoch(publication.published_at - publication.last_received_at)) as silent_seconds
from quality.publication as publication
left join core.requests as requests on requests.service_date between $first and $last
