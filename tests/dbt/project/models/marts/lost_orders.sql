select order_id, amount from {{ ref('big_orders') }} where amount < 50
