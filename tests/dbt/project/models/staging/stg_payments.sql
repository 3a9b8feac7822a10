with renamed as (

    select id as payment_id, order_id, method, amount as paid from {{ ref('raw_payments') }}

)

select * from renamed
