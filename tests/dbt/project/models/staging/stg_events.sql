select event_id, customer_id, kind, seconds from {{ source('web', 'events') }} where kind is not null
